import os
import pickle,json,numpy as np
*_,pw,pb=pickle.load(open('models.pkl','rb'))
D=[json.loads(l) for l in open('pairs.jsonl')]; D=[e for e in D if e['set']=='dev']; y=np.array([e['y'] for e in D]); ret=np.array([bool(e['ret']) for e in D])
s=lambda z:1/(1+np.exp(-z))
zw,zb,ow,ob,on,yt=pickle.load(open('oof.pkl','rb'))
for p in(.2,.25,.3,.35,.4,.45,.5,.55,.6,.65,.7,.75,.8):
    d=s(pb-1.6); o=s(zb-1.6)
    print(p,'dev miss %.2f false/neg %.3f false/turns %.3f flagged %.3f | oof miss %.2f false/neg %.3f'%((d[y==1]<=p).mean(),(d[y==0]>p).mean(),((d>p)&(y==0)).mean(),(d>p).mean(),(o[yt==1]<=p).mean(),(o[yt==0]>p).mean()))
# clear by words
for lo,hi in((-5,4),(-4,3),(-4,2.5),(-3.5,2.5),(-6,3)):
    m=(pw-1.6<lo); h=(pw-1.6>hi); print(lo,hi,'on',m.mean(),'of them new',y[m].mean() if m.any() else 0,'new',h.mean(),'wrong',1-y[h].mean() if h.any() else 0)
