import os
from data import *
import numpy as np, datetime as dt
P=lambda s: dt.datetime.fromisoformat(s.replace('Z','+00:00')).timestamp()
rows=[]
for s in load('streams.real_times.jsonl'):
    last=None
    for t in s['turns']:
        if t['role']!='user': continue
        at=P(t['at'])
        if last is not None: rows.append((at-last,t['boundary'],s['id']))
        last=at
r=np.array([(a,b) for a,b,_ in rows],float); print(len(r),r[:,1].mean())
edges=[0,30,60,120,300,600,1200,3600,4*3600,12*3600,86400,1e9]
base=r[:,1].mean(); lo=lambda p:np.log(p/(1-p))
for a,b in zip(edges,edges[1:]):
    m=(r[:,0]>=a)&(r[:,0]<b); k=r[m,1]; n=len(k); p=(k.sum()+base*2)/(n+2); print(f'{a:>7}-{b:<10} n {n:4d} p {k.mean() if n else 0:.2f} logit vs base {lo(p)-lo(base):+.2f}')
# conversations of code: gaps inside
g=[]
for c in load('conversations.code.jsonl'):
    if c['split']!='train': continue
    last=None
    for t in c['turns']:
        if t['role']!='user' or 'at' not in t: continue
        at=P(t['at'])
        if last: g.append(at-last)
        last=at
g=np.array(g); print('inside train conversations',len(g),np.percentile(g,[10,50,90,97]))
