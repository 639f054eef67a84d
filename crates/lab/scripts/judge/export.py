import os,sys; os.chdir(os.environ['JUDGE_WORK'])
import pickle,struct,numpy as np
gw,gb,nets,wc,wi,bc,bi,pw,pb=pickle.load(open('models.pkl','rb'))
PRIOR=float(sys.argv[2]) if len(sys.argv)>2 else -1.6
def trees(m):
    nodes=[];leaves=[];roots=[]
    for t in m['tree_info']:
        def walk(n):
            if 'leaf_value' in n: leaves.append(n['leaf_value']); return ~(len(leaves)-1)
            at=len(nodes); nodes.append(None); assert n['decision_type']=='<='
            l=walk(n['left_child']); r=walk(n['right_child']); nodes[at]=(n['split_feature'],n['threshold'],l,r); return at
        roots.append(walk(t['tree_structure']))
    b=struct.pack('<III',len(nodes),len(leaves),len(roots))
    b+=b''.join(struct.pack('<Ifii',*x) for x in nodes)+np.array(leaves,'<f4').tobytes()+np.array(roots,'<i4').tobytes()
    return b
W=np.load('pca.npy').astype('<f4')  # 512 x 128
out=b'SEGJUDG1'+trees(gw)+trees(gb)+np.ascontiguousarray(W.T).tobytes()+struct.pack('<I',len(nets))
for (w1,w2),(b1,b2) in nets:
    out+=struct.pack('<I',w1.shape[1])+np.ascontiguousarray(w1.T).astype('<f4').tobytes()+b1.astype('<f4').tobytes()+w2[:,0].astype('<f4').tobytes()+struct.pack('<f',b2[0])
out+=struct.pack('<6f',wc[0,0],wi[0]+PRIOR,.5*wc[0,0],bc[0,0],bc[0,1],.5*wi[0]+bi[0]+PRIOR)
open(sys.argv[1],'wb').write(out); print(len(out))
