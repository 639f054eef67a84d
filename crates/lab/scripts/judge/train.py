import os,sys; sys.path.insert(0,os.environ['JUDGE_WORK']); os.chdir(os.environ['JUDGE_WORK'])
from base import *
import lightgbm as lgb, warnings, time; warnings.filterwarnings('ignore')
from sklearn.neural_network import MLPClassifier
from sklearn.linear_model import LogisticRegression
raw=np.fromfile('words.f32','<u4'); n=int(raw[0]); R=raw.reshape(-1,n+1); assert (R[:,0]==n).all()
FW=np.ascontiguousarray(R[:,1:]).view('<f4')
def near(e):
    m,us,a1,mu,ma,al=ctx(e); u1=us[-1]; c=lambda x,y: float(x@y)
    tu=c(m,u1); tr_=c(m,a1) if a1 is not None else None
    last=[c(m,v) for v in us[::-1][:3]]
    return [tu, tr_ if tr_ is not None else tu, c(m,mu), c(m,ma), max(c(m,v) for v in al), max(last), sum(last)/len(last), c(u1,a1) if a1 is not None else .5, c(u1,mu), c(u1,ma), max(tu, tr_ if tr_ is not None else -1)]
ok=np.array([any(r=='user' for r,_ in e['h']) for e in E])
if not os.path.exists('F_near.npy'): np.save('F_near.npy',np.array([near(e) if o else [0]*11 for e,o in zip(E,ok)],np.float32))
FN=np.load('F_near.npy'); FB=np.hstack([FW,FN]); X=np.load('X_mlp.npy')
y=np.array([e['y'] for e in E]); S=np.array([e['set'] for e in E]); D=[e for e in E if e['set']=='dev']
tr=np.where((S=='train')&ok)[0]; md=(S=='made')&ok; dv=np.where(S=='dev')[0]
pos=np.where(md&(y==1))[0]; neg=np.where(md&(y==0))[0]; rng=np.random.RandomState(0)
PR=dict(objective='binary',num_leaves=15,learning_rate=.04,min_data_in_leaf=25,feature_fraction=.4,bagging_fraction=.8,bagging_freq=1,lambda_l2=5,max_bin=63,verbose=-1,num_threads=1,seed=1)
def gbt(F,idx,rounds=300,madew=.3):
    i=np.concatenate([idx,neg,pos]) if madew>0 else idx
    w=np.concatenate([np.ones(len(idx)),np.full(len(neg),madew*1.5),np.full(len(pos),madew*1.5*len(neg)/len(pos))]) if madew>0 else None
    return lgb.train(PR,lgb.Dataset(F[i],label=y[i],weight=w),rounds)
def net(idx,seed,h=48,it=10,alpha=5e-3):
    r=np.random.RandomState(seed)
    i=np.concatenate([idx,idx,neg,r.choice(pos,7000,False)]); 
    return MLPClassifier((h,),alpha=alpha,batch_size=128,max_iter=it,learning_rate_init=1e-3,random_state=seed).fit(X[i],y[i])
lo=lambda p:np.log(np.clip(p,1e-6,1-1e-6)/(1-np.clip(p,1e-6,1-1e-6)))
def nlogit(c,i):
    h=np.maximum(X[i]@c.coefs_[0]+c.intercepts_[0],0); return (h@c.coefs_[1]+c.intercepts_[1])[:,0]
if __name__=='__main__':
    t0=time.time()
    g0=gbt(FW,tr,madew=0); report('words, streams',g0.predict(FW[dv],raw_score=True),D); print(time.time()-t0)
    gb0=gbt(FB,tr,madew=0); pb0=gb0.predict(FB[dv],raw_score=True); report('both, streams',pb0,D)
    gb=gbt(FB,tr); pb=gb.predict(FB[dv],raw_score=True); report('both, streams+made',pb,D); print(time.time()-t0)
    pm=np.mean([nlogit(net(tr,s),dv) for s in(1,2)],0); report('2 nets',pm,D); print(time.time()-t0)
    report('both0 + nets',pb0+pm,D); report('both + nets',pb+pm,D); report('both0+ .5nets',pb0+.5*pm,D)
