"""Fits the judgement: trees over numbers of words, trees over words and cosines, networks over embeddings, and their mix."""
import json, struct, sys
import lightgbm as lgb
import numpy as np
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.neural_network import MLPClassifier

NEARNESS = 11   # numbers of a pair that come from embeddings; they stand last
NARROW = 128    # to how many numbers an embedding is brought down for the networks
DECAY = .6      # as in judge/features.rs
PRIOR = -2.55   # beginnings are rarer in life than in the streams
WORDS = .5      # how much words count once more by themselves
NETWORKS = 3

work, out = sys.argv[1:]
pairs = [json.loads(line) for line in open(f'{work}/pairs.jsonl')]
F = np.fromfile(f'{work}/numbers', '<f4').reshape(len(pairs), -1)
FW = F[:, :-NEARNESS]
V = np.fromfile(f'{work}/embeddings', np.int8).reshape(-1, 512).astype(np.float32)
V /= np.linalg.norm(V, axis=1, keepdims=True) + 1e-9
place = {}
for pair in pairs:
    for text in [text for _, text in pair['h']] + [pair['m']]:
        place.setdefault(text, len(place))
assert len(place) == len(V)
y = np.array([pair['y'] for pair in pairs])
is_known = ~np.isnan(F[:, 0])
of = lambda name: np.array([at for at, pair in enumerate(pairs) if pair['set'] == name and is_known[at]])
train, dev, made = of('train'), of('dev'), of('made')

unit = lambda v: v / max(np.linalg.norm(v), 1e-9)
def meanings(pair):
    said = [(role, V[place[text]]) for role, text in pair['h']]
    users = [v for role, v in said if role == 'user']
    reply = said[-1][1] if said[-1][0] == 'assistant' else np.zeros(512, np.float32)
    fade = lambda vs: unit(sum(v * DECAY ** n for n, v in enumerate(reversed(vs))))
    return np.stack([V[place[pair['m']]], users[-1], reply, fade(users), fade([v for _, v in said])])
W = PCA(NARROW, random_state=0).fit(V[::3]).components_.T.astype(np.float32)
m, u, a, mu, ma = np.moveaxis(np.array([meanings(pair) for pair in pairs], np.float32) @ W, 1, 0)
cosine = lambda p, q: 8 * (p * q).sum(1, keepdims=True)
X = np.concatenate([m * 8, u * 8, a * 8, m * mu * 64, m * a * 64, np.abs(m - u) * 8, m * ma * 64,
                    cosine(m, mu), cosine(m, a), cosine(m, u)], 1)

TREES = dict(objective='binary', num_leaves=15, learning_rate=.04, min_data_in_leaf=25, feature_fraction=.4, bagging_fraction=.8,
             bagging_freq=1, lambda_l2=5, max_bin=63, verbose=-1, num_threads=1, seed=1, deterministic=True)
# More words in common and nearer meanings speak for belonging, more new words against it; all else may go either way.
LIMITS = np.zeros(F.shape[1], int)
LIMITS[65:71] = LIMITS[73:75] = LIMITS[130:137] = LIMITS[140] = -1
LIMITS[71:73] = 1
# Capitals, stops, lines and lengths tell the source of a text rather than its matter: the trees do not see them.
F[:, [3, 4, 9, 10, 78, 79, 83, 86, 89, 90, 91, 92]] = 0
on, new = made[y[made] == 0], made[y[made] == 1]
def trees(F, rows, rounds):
    limits = dict(TREES, monotone_constraints=list(LIMITS[:F.shape[1]]))
    return lgb.train(limits, lgb.Dataset(F[rows], label=y[rows]), rounds)
def network(rows, seed):
    some = np.random.RandomState(seed).choice(new, len(on), False)
    rows = np.concatenate([rows, rows, rows, on, some])
    return MLPClassifier((48,), alpha=5e-3, batch_size=128, max_iter=8, learning_rate_init=1e-3, random_state=seed).fit(X[rows], y[rows])
def logit(net, rows):
    hidden = np.maximum(X[rows] @ net.coefs_[0] + net.intercepts_[0], 0)
    return (hidden @ net.coefs_[1] + net.intercepts_[1])[:, 0]

# How the models are weighed: by what each says of streams that it was not fitted on.
streams = sorted({pairs[at]['stream'] for at in train})
np.random.RandomState(3).shuffle(streams)
half = {stream: n % 2 for n, stream in enumerate(streams)}
part = np.array([half[pairs[at]['stream']] for at in train])
ow, ob, on_ = np.zeros(len(train)), np.zeros(len(train)), np.zeros(len(train))
for k in (0, 1):
    fit, rest = train[part != k], train[part == k]
    ow[part == k] = trees(FW, fit, 200).predict(FW[rest], raw_score=True)
    ob[part == k] = trees(F, fit, 300).predict(F[rest], raw_score=True)
    on_[part == k] = logit(network(fit, k), rest)
by_words = LogisticRegression(C=100).fit(ow[:, None], y[train])
by_both = LogisticRegression(C=100).fit(np.stack([ob, on_], 1), y[train])
(cw,), (iw,) = by_words.coef_[0], by_words.intercept_
(cb, cn), (ib,) = by_both.coef_[0], by_both.intercept_

tw, tb = trees(FW, train, 200), trees(F, train, 300)
nets = [network(train, seed) for seed in range(11, 11 + NETWORKS)]
mix = [cw, iw + PRIOR, WORDS * cw, cb, cn, WORDS * iw + ib + PRIOR]

def report(name, p):
    for kind in ('all', 'en', 'zh', 'code'):
        rows = np.array([kind in ('all', pairs[at]['lang']) for at in dev])
        others, begins = np.sort(p[rows & (y[dev] == 0)])[::-1], p[rows & (y[dev] == 1)]
        missed = [100 * (begins <= others[int(share * len(others))]).mean() for share in (.01, .02, .03)]
        print(f'{name} {kind:4} AUC {roc_auc_score(y[dev][rows], p[rows]):.3f}, missed at 1, 2, 3 %:', *(f'{x:.0f}' for x in missed))
pw, pb = tw.predict(FW[dev], raw_score=True), tb.predict(F[dev], raw_score=True)
pn = np.mean([logit(net, dev) for net in nets], 0)
report('dev, words', pw)
report('dev, both ', mix[2] * pw + mix[3] * pb + mix[4] * pn)

def packed(model):
    nodes, leaves, roots = [], [], []
    def walk(node):
        if 'leaf_value' in node:
            leaves.append(node['leaf_value'])
            return ~(len(leaves) - 1)
        at = len(nodes)
        nodes.append(None)
        assert node['decision_type'] == '<='
        left, right = walk(node['left_child']), walk(node['right_child'])
        nodes[at] = (node['split_feature'], node['threshold'], left, right)
        return at
    for tree in model.dump_model()['tree_info']:
        roots.append(walk(tree['tree_structure']))
    head = struct.pack('<III', len(nodes), len(leaves), len(roots)) + b''.join(struct.pack('<Ifii', *node) for node in nodes)
    return head + np.array(leaves, '<f4').tobytes() + np.array(roots, '<i4').tobytes()
data = b'SEGJUDG1' + packed(tw) + packed(tb) + np.ascontiguousarray(W.T).astype('<f4').tobytes() + struct.pack('<I', len(nets))
for net in nets:
    (w1, w2), (b1, b2) = net.coefs_, net.intercepts_
    data += struct.pack('<I', w1.shape[1]) + np.ascontiguousarray(w1.T).astype('<f4').tobytes()
    data += b1.astype('<f4').tobytes() + w2[:, 0].astype('<f4').tobytes() + struct.pack('<f', b2[0])
data += struct.pack('<6f', *mix)
open(out, 'wb').write(data)
print(out, len(data), 'bytes; mix', *(f'{x:.2f}' for x in mix))
