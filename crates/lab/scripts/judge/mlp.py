import os
from base import *
from sklearn.neural_network import MLPClassifier
from sklearn.decomposition import PCA
import time
y=np.array([e['y'] for e in E]); S=np.array([e['set'] for e in E]); D=[e for e in E if e['set']=='dev']
tr=S=='train'; md=S=='made'; dv=S=='dev'
pca=PCA(128,random_state=0).fit(V[::3]); W=pca.components_.T.astype(np.float32); np.save('pca.npy',W)
P=V@W; P/=P.std()   # no centering
def x(e):
    m,us,a1,mu,ma,al=ctx(e); u1=us[-1] if us else Z; a=a1 if a1 is not None else Z
    q=lambda v:(v@W)
    m,u1,a,mu,ma=map(q,(m,u1,a,mu,ma))
    return np.concatenate([m*8,u1*8,a*8,m*mu*64,m*a*64,np.abs(m-u1)*8,m*ma*64,[8*float(m@mu),8*float(m@a),8*float(m@u1)]])
X=np.array([x(e) for e in E],np.float32); np.save('X_mlp.npy',X)
rng=np.random.RandomState(0)
# balance: made positives subsampled
pos=np.where(md&(y==1))[0]; neg=np.where(md&(y==0))[0]
def run(idx,seed,h=(48,),alpha=3e-3,it=12):
    c=MLPClassifier(h,alpha=alpha,batch_size=128,max_iter=it,learning_rate_init=1e-3,random_state=seed); c.fit(X[idx],y[idx]); return c
t0=time.time()
idx=np.where(tr)[0]; c=run(idx,1,it=25); report('mlp streams',c.predict_proba(X[dv])[:,1],D); print(time.time()-t0)
idx=np.concatenate([np.where(tr)[0]]*2+[neg,rng.choice(pos,9000,False)]); c=run(idx,1); report('mlp streams+made',c.predict_proba(X[dv])[:,1],D); print(time.time()-t0)
np.save('p_mlp.npy',c.predict_proba(X[dv])[:,1])
