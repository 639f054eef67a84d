import os
"""Examples: (recent turns of the session, message, label). From streams (train/dev) and made ones from train conversations and openers."""
from data import *
import random,json
def of_streams(f,tag):
    out=[]
    for s in load(f):
        hist=[]
        for t in s['turns']:
            if t['role']=='user':
                b=t['boundary']
                if hist: out.append(dict(h=hist[-8:],m=t['text'],y=int(b),lang=s['kind'],hard=t.get('hard'),stream=s['id'],ret='returns_to' in t,set=tag))
                if b: hist=[]
            hist=hist+[(t['role'],t['text'])]
    return out
def made(seed=7,per=6):
    rnd=random.Random(seed); out=[]
    convs={k:[c for c in load(f'conversations.{k}.jsonl') if c['split']=='train'] for k in('en','zh','code')}
    ops={k:[o for o in load(f'openers.{k}.jsonl') if o['split']=='train'] for k in('en','zh')}
    def cut(t,role):
        # replies are cut to various lengths in the streams: the end is kept
        if role=='assistant' and len(t)>200 and rnd.random()<.7:
            n=rnd.choice([60,120,200,300]); t='… '+t[-n:]
        return t
    def norm(t):
        if rnd.random()<.5 and t and t[0].islower() and t.isascii() and len(t)<120: t=t[0].upper()+t[1:]+('' if t[-1] in '.?!' else rnd.choice(['.','?','']))
        return t
    dev_texts={t['text'] for k in convs for c in load(f'conversations.{k}.jsonl') if c['split']=='dev' for t in c['turns'] if t['role']=='user'}
    mtb=[]
    for d in (json.loads(l) for l in open(os.environ['SEGUE_DATA']+'/session/mtb101_concat.train.jsonl')):
        seg=[]
        for t in d['turns']:
            if t.get('boundary') and t['role']=='user' and seg: mtb.append(seg); seg=[]
            seg.append((t['role'],t['text']))
        mtb.append(seg)
    seen=set(); uniq=[]
    for s in mtb:
        k=s[0][1]
        if k in seen or any(t in dev_texts for r,t in s if r=='user'): continue
        seen.add(k); uniq.append(s)
    zh=[]
    for d in (json.loads(l) for l in open(os.environ['SEGUE_DATA']+'/session/concat_zh.train.jsonl')):
        seg=[]
        for t in d['turns']:
            if t.get('boundary') and t['role']=='user' and seg: zh.append(seg); seg=[]
            seg.append((t['role'],t['text']))
        zh.append(seg)
    rnd.shuffle(zh); zh=zh[:250]
    pool={k:[] for k in('en','zh','code')}   # histories
    starts={k:[] for k in('en','zh','code')} # messages that begin
    for k in convs:
        for c in convs[k]:
            ts=[(t['role'],t['text']) for t in c['turns']]
            pool[k].append(ts)
            if ts and ts[0][0]=='user' and not c.get('paste'): starts[k].append(ts[0][1])
    for s in uniq: pool['en'].append(s)
    for s in zh: pool['zh'].append(s)
    for k in ops:
        for o in ops[k]:
            ts=[('user',norm(o['text']))]+([('assistant',o['reply'])] if 'reply' in o else [])
            pool[k].append(ts); starts[k].append(norm(o['text']))
    starts['code']=starts['code']*2+[o['text'] for o in ops['en'] if o['kind'] in('code','command')][:300]
    for k in pool:
        for ts in pool[k]:
            hist=[]
            for role,t in ts:
                if role=='user' and hist:
                    drop=rnd.random()<.35 and len(hist)>1 and hist[-1][0]=='assistant'
                    h=hist[:-1] if drop else hist
                    h=[(r,cut(x,r)) for r,x in h][-8:]
                    out.append(dict(h=h,m=t,y=0,lang=k,set='made'))
                hist=hist+[(role,t)]
            # openers after this talk, at a random place
            cuts=[i for i in range(1,len(ts)+1) if i==len(ts) or ts[i][0]=='user']
            for _ in range(per if len(ts)>2 else 1):
                h=[(r,cut(x,r)) for r,x in ts[:rnd.choice(cuts)]][-8:]
                if rnd.random()<.35 and len(h)>1 and h[-1][0]=='assistant': h=h[:-1]
                m=rnd.choice(starts[k])
                if m in [x for _,x in h]: continue
                out.append(dict(h=h,m=m,y=1,lang=k,set='made'))
    return out
if __name__=='__main__':
    tr=of_streams('streams.train.jsonl','train'); dv=of_streams('streams.dev.jsonl','dev'); md=made()
    import collections
    for n,x in(('train',tr),('dev',dv),('made',md)): print(n,len(x),sum(e['y'] for e in x),collections.Counter((e['lang'],e['y']) for e in x))
    with open('pairs.jsonl','w') as f:
        for e in tr+dv+md: f.write(json.dumps(e)+'\n')
    import pickle
    T=set(pickle.load(open('texts.pkl','rb')))
    new=set()
    for e in tr+dv+md:
        for r,t in e['h']:
            if t not in T: new.add(t)
        if e['m'] not in T: new.add(e['m'])
    new=sorted(new); print('new texts',len(new))
    with open('texts2.jsonl','w') as f:
        for t in new: f.write(json.dumps(t)+'\n')
