import os
import json
esc=lambda t:t.replace('\\','\\\\').replace('\t','\\t').replace('\n','\\n').replace('\r','\\r')
with open('pairs.tsv','w') as f:
    for l in open('pairs.jsonl'):
        e=json.loads(l); f.write('\t'.join([esc(e['m'])]+[('u' if r=='user' else 'a')+esc(t) for r,t in e['h']])+'\n')
