import os
from train import *
import struct, pickle
lang=np.array([e['lang'] for e in E]); neg=neg[lang[neg]!='zh']; pos=pos[lang[pos]!='zh']
def net(idx,seed,h=48,it=8,alpha=5e-3):
    r=np.random.RandomState(seed); i=np.concatenate([idx,idx,idx,neg,r.choice(pos,5000,False)])
    return MLPClassifier((h,),alpha=alpha,batch_size=128,max_iter=it,learning_rate_init=1e-3,random_state=seed).fit(X[i],y[i])
t0=time.time()
streams=np.array([e.get('stream','') for e in E]); names=sorted(set(streams[tr])); r=np.random.RandomState(3); r.shuffle(names)
fold={s:k%2 for k,s in enumerate(names)}; f=np.array([fold[streams[i]] for i in tr])
ow=np.zeros(len(tr)); ob=np.zeros(len(tr)); on=np.zeros(len(tr))
for k in(0,1):
    a=tr[f!=k]; b=tr[f==k]
    ow[f==k]=gbt(FW,a,200,0).predict(FW[b],raw_score=True)
    ob[f==k]=gbt(FB,a,250,0).predict(FB[b],raw_score=True)
    on[f==k]=nlogit(net(a,k),b); print('fold',k,time.time()-t0,flush=True)
lw=LogisticRegression(C=100).fit(ow[:,None],y[tr]); lb=LogisticRegression(C=100).fit(np.stack([ob,on],1),y[tr])
print('mix words',lw.coef_,lw.intercept_,'both',lb.coef_,lb.intercept_)
zw=ow*lw.coef_[0,0]+lw.intercept_[0]; zb=np.stack([ob,on],1)@lb.coef_[0]+lb.intercept_[0]
pickle.dump((zw,zb,ow,ob,on,y[tr]),open('oof.pkl','wb'))
T=[E[i] for i in tr]; report('oof words',zw,T); report('oof both',zb,T)
gw=gbt(FW,tr,200,0); gb=gbt(FB,tr,300,0); print(time.time()-t0,flush=True)
nets=[net(tr,s) for s in(11,12)]; print(time.time()-t0,flush=True)
pw=gw.predict(FW[dv],raw_score=True)*lw.coef_[0,0]+lw.intercept_[0]
pb=np.stack([gb.predict(FB[dv],raw_score=True),np.mean([nlogit(c,dv) for c in nets],0)],1)@lb.coef_[0]+lb.intercept_[0]
pickle.dump((gw.dump_model(),gb.dump_model(),[(c.coefs_,c.intercepts_) for c in nets],lw.coef_,lw.intercept_,lb.coef_,lb.intercept_,pw,pb),open('models.pkl','wb'))
report('DEV words',pw,D); report('DEV both',pb,D)
