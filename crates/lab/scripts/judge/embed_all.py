from enc import Enc; from data import *; import numpy as np, json, pickle, os
e=Enc(); T={}
def add(t):
    if t not in T: T[t]=len(T)
for f in ('streams.train','streams.dev','openers.en','openers.zh','conversations.en','conversations.zh','conversations.code','streams.real_times'):
    for x in load(f+'.jsonl'):
        for t in x.get('turns',[x]): add(t['text'])
        if 'reply' in x: add(x['reply'])
V=np.array([e(t) for t in T],np.float32)
pickle.dump(list(T),open('texts.pkl','wb')); np.save('vecs.npy',V); print(V.shape)
