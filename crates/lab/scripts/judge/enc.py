import sys; sys.path.insert(0,os.environ['JUDGE_WORK'])
from use_np import tok, z as Z, table as FULL
import numpy as np
from array import array
HEAD,TAIL=400,200; TH,TT=64,32
import unicodedata,re
def normal(t):
    t=unicodedata.normalize('NFKC',t)
    t=re.sub('[\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\u00ad\ufe00-\ufe0f]','',t)
    t=' '.join(t.split())
    return '\u2581'+t.replace(' ','\u2581') if t else ''
class Enc:
    def __init__(s,packed=True):
        if packed:
            p=np.load(os.environ['JUDGE_WORK']+'/packed.npz'); s.ids=p['ids']; s.table=p['k']*p['step']+p['lo']; s.d={n[2:]:p[n] for n in p.files if n.startswith('d_')}
            t=tok; pieces=[t._pieces[i] for i in s.ids]; sc=[t._scores[i] for i in s.ids]
        else:
            s.table=FULL; s.d={n:Z[n] for n in Z.files if not n.startswith('q')}; pieces=t=tok._pieces; sc=list(tok._scores)
        import copy; s.t=copy.copy(tok); s.t._pieces=pieces; s.t._scores=array('f',sc)
        pre={}
        for pid,piece in enumerate(pieces):
            if pid<3: continue
            for k in range(1,len(piece)): pre.setdefault(piece[:k],0)
            pre[piece]=pid+1
        s.t._prefixes=pre; s.t._max_len=max(map(len,pieces))
    def tokens(s,text):
        if len(text)>HEAD+TAIL: text=text[:HEAD]+'\n'+text[-TAIL:]
        n=normal(text)
        ids=[1]+(s.t._viterbi(n) if n else [0])+[2]
        if len(ids)>TH+TT: ids=ids[:TH]+ids[-TT:]
        return ids
    def ln(s,x,g,b):
        x=x-x.mean(-1,keepdims=True); v=(x*x).mean(-1,keepdims=True); return x/np.sqrt(v+1e-12)*g+b
    def one(s,ids):
        d=s.d; n=len(ids); e=s.table[ids]; f=[e]
        for o,l in((2,0),(3,1),(5,2)):
            x=s.ln3(e,o)
            def conv(x,w,b):
                pad=np.zeros((n+o-1,256),np.float32); pad[l:l+n]=x
                win=np.concatenate([pad[j:j+n] for j in range(o)],1)
                return np.maximum(win@w+b,0)
            h=conv(x,d[f'w1_{o}'],d[f'b1_{o}'])+x
            f.append(conv(h,d[f'w2_{o}'],d[f'b2_{o}'])+h)
        f=s.ln(np.concatenate(f,1),d['ln_g'],d['ln_b'])
        m=(f.sum(0)@d['cnn_W']+n*d['cnn_b'])/np.sqrt(n)
        y0=np.maximum(m@d['d0'],0); y1=np.maximum(m@d['p1']+y0@d['d1'],0); y2=np.maximum(y1@d['d2'],0)
        v=np.tanh(y1@d['p3']+y2@d['d3']); return (v/np.sqrt(max((v*v).sum(),1e-12))).astype(np.float32)
    def ln3(s,e,o):
        # the LN of the projections runs over the concatenated 768 columns in the reference
        if getattr(s,'_e',None) is not e:
            d=s.d; x=np.concatenate([e@d[f'proj{k}']+d[f'proj_b{k}'] for k in(2,3,5)],1)
            g=np.concatenate([d[f'ln_g{k}'] for k in(2,3,5)]); b=np.concatenate([d[f'ln_b{k}'] for k in(2,3,5)])
            s._x=s.ln(x,g,b); s._e=e
        i={2:0,3:1,5:2}[o]; return s._x[:,256*i:256*i+256]
    def __call__(s,text): return s.one(s.tokens(text))
