"""Pairs to fit the judgement on: (what was said, the message after it, whether it begins something new).

From the streams as they are, and made from conversations and openers of split train: true next turns go on; openers, first messages
and later messages that stand alone begin something after unrelated talk. Nothing of split dev is used but the dev streams themselves,
which are marked and only reported on. Neither the clock nor the place in a stream is an input.
"""
import json, os, random, re, sys
DATA = os.environ['SEGUE_DATA']
HERE = os.path.dirname(os.path.abspath(__file__))
OWN = os.environ.get('SEGUE_OWN') or os.path.join(HERE, '../../assets-src')
load = lambda name: [json.loads(line) for line in open(f'{DATA}/{name}.jsonl')]
source_of = lambda name: '/'.join(name.split('/')[:2]) if name.startswith('paste/') else name.split('/')[0]

def of_streams(name, tag):
    out = []
    for stream in load('assistant/' + name):
        said, before, source = [], None, [source_of(f) for f in stream['from']]
        for turn in stream['turns']:
            here = source[turn['conv']] if turn['conv'] < len(source) else '?'
            if turn['role'] == 'user':
                if said:
                    out.append(dict(h=said[-8:], m=turn['text'], y=int(turn['boundary']), lang=stream['kind'], hard=turn.get('hard'),
                                    stream=stream['id'], ret='returns_to' in turn, set=tag, sources=sorted({here, before})))
                if turn['boundary']:
                    said = []
            said = said + [(turn['role'], turn['text'])]
            before = here
    return out

def own(language):
    """The conversations that were written for this project: ordinary talk with ordinary follow-ups."""
    for block in open(f'{OWN}/conversations.{language}.txt').read().split('\n\n'):
        turns = []
        for line in block.splitlines():
            mark, _, text = line.partition(': ')
            if mark not in ('u', 'a', 'u*'):
                continue
            if mark == 'u*':
                break  # a change of task inside: neither here nor there
            turns.append(('user' if mark == 'u' else 'assistant', text.replace('\\n', '\n')))
        if turns:
            yield turns

def joined(name, most=None, rnd=None):
    parts, seen = [], set()
    for dialogue in load('session/' + name):
        part = []
        for turn in dialogue['turns']:
            if turn.get('boundary') and turn['role'] == 'user' and part:
                parts.append(part); part = []
            part.append((turn['role'], turn['text']))
        parts.append(part)
    unique = []
    for part in parts:
        if part[0][1] not in seen:
            seen.add(part[0][1]); unique.append(part)
    if rnd: rnd.shuffle(unique)
    return unique[:most]

LEANS = re.compile(r"\b(it|its|that|this|they|them|those|these|there|he|she|his|her|him|above|previous|again|also|instead|same|one|ones|you said|your|now|first|second|last|another|other|more|still|too|but|and|so|then|else)\b|这|那|它|他|她|上面|刚才|之前|前面|还|再|另外|其他|其中|也|更|继续|改|换|又|上述|第[一二三四五六七八九十]", re.I)
def stands_alone(text, chinese):
    words = len(text) / 2 if chinese else len(text.split())
    return 5 <= words <= 60 and not LEANS.search(text)

def made(seed=7, per=6):
    rnd, out = random.Random(seed), []
    pool = {k: [] for k in ('en', 'zh', 'code')}    # (source, turns)
    starts = {k: [] for k in ('en', 'zh', 'code')}  # (source, message)
    later = {k: [] for k in ('en', 'zh', 'code')}
    def tidy(text):
        if rnd.random() < .5 and text and text[0].islower() and text.isascii() and len(text) < 120:
            text = text[0].upper() + text[1:] + ('' if text[-1] in '.?!' else rnd.choice(['.', '?', '']))
        return text
    def cut(role, text):
        # Answers in the streams are cut to several lengths; the end is kept.
        if role == 'assistant' and len(text) > 200 and rnd.random() < .7:
            text = '… ' + text[-rnd.choice([60, 120, 200, 300]):]
        return role, text
    dev = set()
    for k in pool:
        for c in load(f'assistant/conversations.{k}'):
            if c['split'] != 'train':
                dev.update(t['text'] for t in c['turns'] if t['role'] == 'user'); continue
            turns = [(t['role'], t['text']) for t in c['turns']]
            source = source_of(c['id'])
            pool[k].append((source, turns))
            if turns and turns[0][0] == 'user' and not c.get('paste'):
                starts[k].append((source, turns[0][1]))
            if not c.get('paste'):
                later[k] += [(source, t) for r, t in turns[1:] if r == 'user' and stands_alone(t, k == 'zh')]
    pool['en'] += [('mtb101', p) for p in joined('mtb101_concat.train') if not any(t in dev for r, t in p if r == 'user')]
    pool['zh'] += [('concat_zh', p) for p in joined('concat_zh.train', 250, rnd)]
    for k in ('en', 'zh'):
        for turns in own(k):
            pool[k] += [('own', turns)] * 2
            starts[k].append(('own', turns[0][1]))
            later[k] += [('own', t) for r, t in turns[1:] if r == 'user' and stands_alone(t, k == 'zh')]
        for o in load(f'assistant/openers.{k}'):
            if o['split'] == 'train':
                source = source_of(o['id'])
                pool[k].append((source, [('user', tidy(o['text']))] + ([('assistant', o['reply'])] if 'reply' in o else [])))
                starts[k].append((source, tidy(o['text'])))
                if k == 'en' and o['kind'] in ('code', 'command') and len(starts['code']) < 1200:
                    starts['code'].append((source, o['text']))
    for k in pool:
        for source, turns in pool[k]:
            said = []
            for role, text in turns:
                if role == 'user' and any(r == 'user' for r, _ in said):
                    drop = rnd.random() < .35 and len(said) > 1 and said[-1][0] == 'assistant'
                    h = [cut(*x) for x in (said[:-1] if drop else said)][-8:]
                    if any(r == 'user' for r, _ in h):
                        out.append(dict(h=h, m=text, y=0, lang=k, set='made', sources=[source]))
                said = said + [(role, text)]
            ends = [i for i in range(1, len(turns) + 1) if i == len(turns) or turns[i][0] == 'user']
            for _ in range(per if len(turns) > 2 else 1):
                h = [cut(*x) for x in turns[:rnd.choice(ends)]][-8:]
                if rnd.random() < .35 and len(h) > 1 and h[-1][0] == 'assistant':
                    h = h[:-1]
                other, message = rnd.choice(later[k]) if later[k] and rnd.random() < .2 else rnd.choice(starts[k])
                if message in [t for _, t in turns] or not any(r == 'user' for r, _ in h):
                    continue
                out.append(dict(h=h, m=message, y=1, lang=k, set='made', sources=sorted({source, other})))
    return out

if __name__ == '__main__':
    everything = of_streams('streams.train', 'train') + of_streams('streams.dev', 'dev') + made()
    everything = [e for e in everything if any(r == 'user' for r, _ in e['h'])]
    import collections
    print(collections.Counter((e['set'], e['lang'], e['y']) for e in everything), file=sys.stderr)
    with open(sys.argv[1], 'w') as f:
        for e in everything:
            f.write(json.dumps(e, ensure_ascii=False) + '\n')
