import os
import json
A=os.environ['SEGUE_DATA']+'/assistant/'
def load(f): return [json.loads(l) for l in open(A+f)]
