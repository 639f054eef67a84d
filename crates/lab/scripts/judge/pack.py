import os
"""Shipped form of the encoder: pruned vocabulary, 4-bit table, 8-bit dense. Keeps a numpy copy with exactly those numbers."""
from use_np import *
P=tok._pieces
def keep(i,p):
    if i<3: return True
    if i<6: return False
    q=p.replace('\u2581','')
    return all(ord(x)<128 or 0x4e00<=ord(x)<=0x9fff or x in '、。」「》《』『→√∞≤≥≠α-ωπ≈−€※〉〈—–“”‘’…·￥×÷±°' for x in q)
ids=[i for i,p in enumerate(P) if keep(i,p)]
print('kept',len(ids))
sub=table[ids]
def q4(rows,clip):
    # per row: symmetric levels -7..8 -> use 16 levels lo+step*k
    lo=rows.min(1,keepdims=True)*clip; hi=rows.max(1,keepdims=True)*clip
    step=((hi-lo)/15).astype(np.float16).astype(np.float32); lo=lo.astype(np.float16).astype(np.float32)
    k=np.clip(np.rint((rows-lo)/np.maximum(step,1e-9)),0,15).astype(np.uint8)
    return k,lo,step
best=None
for clip in (1.0,.9,.8,.7,.6):
    k,lo,step=q4(sub,clip); e=((k*step+lo-sub)**2).sum()/((sub-sub.mean())**2).sum(); print(clip,e)
    if best is None or e<best[0]: best=(e,clip,k,lo,step)
_,clip,k,lo,step=best
dense={}
raw={}
for n in z.files:
    a=z[n]
    if n.startswith('q') or n in('scale','lo','bits','eps'): continue
    if a.ndim==2:
        s=(np.abs(a).max(0)/127).astype(np.float32); s[s==0]=1e-9
        i8=np.clip(np.rint(a/s),-127,127).astype(np.int8)
        raw[n]=(i8,s); dense[n]=(i8*s).astype(np.float32)
    else: dense[n]=a.astype(np.float32); raw[n]=a.astype(np.float32)
np.savez('packed.npz',ids=np.array(ids),k=k,lo=lo,step=step,**{'d_'+n:v for n,v in dense.items()})
import pickle; pickle.dump(raw,open('raw.pkl','wb'))
print('bytes table',k.size//2+lo.size*4,'dense',sum(v.size for v in dense.values()))
