//! Words that say what a message does to a task; `|` separates entries. Some lists are matched as whole
//! clauses, after polite words at both ends were taken away; some as words anywhere.

use std::sync::LazyLock;

/// Entries that are matched as whole clauses, sorted.
pub(super) struct Whole(LazyLock<Vec<&'static str>>);

impl Whole {
    pub(super) fn has(&self, clause: &str) -> bool {
        self.0.binary_search(&clause).is_ok()
    }
}

/// Entries that are looked for anywhere: with a space at both ends where words have spaces.
pub(super) struct Anywhere(LazyLock<Vec<String>>);

impl Anywhere {
    /// Whether one of them is in a text that begins and ends with a space.
    pub(super) fn is_in(&self, padded: &str) -> bool {
        self.0.iter().any(|entry| padded.contains(entry.as_str()))
    }

    /// Whether one of them begins one of the two texts, or stands among the first characters.
    pub(super) fn begins(&self, padded: &str, without_polite: &str) -> bool {
        let first: String = padded.trim_start().chars().take(8).collect();
        self.0.iter().any(|entry| {
            if entry.starts_with(' ') {
                padded.starts_with(entry.as_str()) || without_polite.starts_with(entry.as_str())
            } else {
                first.contains(entry.as_str())
            }
        })
    }
}

fn sorted(list: &'static str) -> Vec<&'static str> {
    let mut entries: Vec<&str> = list.split('|').collect();
    entries.sort_unstable();
    entries
}

fn spaced(list: &'static str) -> Vec<String> {
    let entries = list.split('|').filter(|entry| !entry.is_empty());
    entries.map(|entry| if entry.is_ascii() { format!(" {entry} ") } else { entry.to_owned() }).collect()
}

/// Ends the task.
pub(super) static DROP: Whole = Whole(LazyLock::new(|| sorted(DROP_LIST)));
const DROP_LIST: &str = "never mind|nevermind|nvm|forget it|forget about it|forget this|forget that|forget the whole thing|forget about this|cancel|cancel it|cancel this|cancel that|cancel the task|cancel everything|cancel that task|stop|stop it|stop this|stop that|stop there|stop working|stop working on it|stop working on this|stop working on that|stop here|stop everything|drop it|drop this|drop that|drop the task|scrap it|scrap this|scrap that|scrap the whole thing|abort|abort it|abort this|abort the task|abort mission|leave it|leave it be|leave it there|leave it as it is|leave that|dont bother|no need|no need anymore|no longer needed|no longer need it|no longer need this|no longer need that|dont need it anymore|dont need this anymore|dont need that anymore|dont need it|dont need this|not needed anymore|not needed|not necessary anymore|kill it|kill the task|quit|quit it|give up|call it off|lets not|lets not do this|lets not do it|changed my mind|ive changed my mind|throw it away|discard it|bin it|dont do it|dont do that|dont do this|dont want it anymore|dont want this anymore|skip it|skip this|skip the whole thing|its pointless|not worth it|its not worth it|end it here|end this task|end the task|close the task|close it|shut it down|halt|terminate|pull the plug|we can stop|you can stop|we can drop it|you can drop it|you can forget it|thats enough stop|enough|park it|shelve it|shelve this|call it quits|undo everything and stop|scratch that|drop the whole thing|drop the whole idea|abandon it|abandon this|abandon the task|abandon that|lets abandon this|someone else did it|already did it myself|did it myself|ill do it myself|ive done it myself|no point anymore|theres no point anymore|no point in continuing|dont continue|do not continue|dont go on|lets call it off|its off|the whole thing is off|the project is cancelled|the trip is off|its cancelled|its been cancelled|got cancelled|was cancelled|changed our minds|we changed our minds|decided against it|weve decided against it|ive decided against it|were not doing it|were not doing this anymore|im not doing this anymore|dont want to do this anymore|i dont want this anymore|\
算了|算了吧|不用了|不用做了|不做了|先不做了|取消|取消吧|取消任务|取消这个|取消掉|停|停下|停下来|停止|停一下别做了|停手|别做了|别弄了|别搞了|别写了|别改了|别管了|别继续了|不要继续了|不用继续了|不继续了|放弃|放弃吧|放弃这个|不需要了|不要了|不搞了|不弄了|不写了|不改了|不查了|不订了|不买了|不去了|到此为止|到此为止吧|中止|终止|终止任务|不必了|作罢|就此作罢|当我没说|拉倒|拉倒吧|免了|没必要了|没必要做了|用不着了|用不上了|用不到了|不想做了|不想要了|不想弄了|不想搞了|撤了吧|撤销任务|这个任务取消|这事算了|这件事算了|这个算了|这个不做了|这个不用了|这个不用做了|这个不要了|这个不需要了|先停|先停了|停了吧|关掉吧|不干了|丢掉吧|扔了吧|废弃|作废|任务作废|我自己来|我自己弄|我自己搞定了|我自己做完了|已经不需要了|已经用不上了|计划取消了|项目取消了|活动取消了|行程取消了|改主意了|我改主意了|不打算做了|结束吧|结束任务|就算了|还是算了|还是算了吧|先算了|先这样不做了|别忙了|不用忙了|不用麻烦了|不麻烦了|不用管了|不管了|搁置|先搁置|先放弃|忘了吧|忘了它|忘掉它|当没这回事|取消这个任务|把这个任务取消|把任务取消|停掉|停掉吧|叫停|别搞这个了|别弄这个了|不弄这个了|不搞这个了|这活不干了";

/// Accepts the work.
pub(super) static ACCEPT: Whole = Whole(LazyLock::new(|| sorted(ACCEPT_LIST)));
const ACCEPT_LIST: &str = "looks good|looks great|looks fine|looks perfect|looks right|looks correct|looks ok|looks okay|look good|lgtm|perfect|great|great job|great work|good|good job|good work|nice|nice job|nice work|nice one|awesome|excellent|wonderful|fantastic|brilliant|superb|amazing|lovely|beautiful|cool|sweet|fine|fine by me|fine with me|works|works for me|works great|works perfectly|works fine|works now|it works|it works now|that works|that works for me|done|all done|were done|thats it|thats all|thats all i needed|thats all i need|that is all|thats everything|all good|all set|were good|were all set|good to go|ship it|merge it|approved|i approve|accepted|i accept|confirmed|confirm|exactly|exactly what i wanted|exactly what i needed|exactly what i asked for|exactly right|just what i needed|just what i wanted|what i wanted|spot on|well done|thank you|thanks|thx|ty|tysm|cheers|thanks a lot|thanks a bunch|many thanks|thank you so much|thank you very much|much appreciated|appreciate it|appreciated|i appreciate it|youre the best|you rock|love it|i love it|i like it|like it|happy with it|happy with that|happy with this|im happy|im happy with it|im happy with that|satisfied|im satisfied|no complaints|no changes|no changes needed|no further changes|nothing else|nothing to add|nothing more|that will do|thatll do|thats fine|thats good|thats great|thats perfect|thats right|thats correct|thats exactly it|thats what i wanted|thats what i needed|sounds good|sounds great|sounds right|good enough|close enough|correct|right|yes|yep|yeah|yup|ok|okay|k|kk|sure|alright|agreed|go|go ahead|great stuff|top|ace|neat|solid|stellar|bravo|kudos|signed off|sign it off|you can close it|you can close this|close it out|mark it done|mark it as done|mark as done|mark it complete|mark it as complete|consider it done|call it done|wrap it up|lets wrap it up|lets call it done|task complete|complete|problem solved|solved|issue resolved|resolved|fixed|fixed now|tests pass|it runs|runs fine|checks out|it checks out|tested it|tested|verified|got it|received|understood|makes sense|noted|fair enough|super|yay|woohoo|hooray|wow|nailed it|you nailed it|looks good to me|looks great to me|looks fine to me|looks right to me|seems good|seems fine|seems right|reads well|reads great|\
好的|好|好了|可以|可以了|可以的|没问题|没问题了|完美|很完美|谢谢|谢谢你|谢谢啦|谢了|多谢|感谢|非常感谢|太感谢了|辛苦|辛苦了|不错|很不错|真不错|挺好|挺好的|很好|非常好|太好了|真好|好极了|太棒了|很棒|真棒|棒|赞|点赞|给力|厉害|牛|搞定|搞定了|完成|完成了|就这样|就这样吧|就这样了|就这么定|就这么定了|就它了|就是这个|就是这样|就要这个|正是我要的|正是我想要的|这正是我要的|这就是我要的|通过|验收通过|审核通过|确认|确认了|确认无误|没毛病|没有问题|没有问题了|没意见|没有意见|满意|很满意|非常满意|我很满意|对|对的|对了|正确|是的|是|行|行了|行吧|嗯|嗯嗯|好嘞|收到|明白|明白了|知道了|了解|懂了|可以收工了|收工|可以提交|提交吧|可以合并|合并吧|可以上线|上线吧|可以发布|发布吧|可以结束了|可以关闭了|关了吧|没别的了|没有别的了|没有其他的了|没有了|没了|不用改了|不用改|不需要改|不需要修改|不需要再改了|无需修改|符合要求|符合预期|符合我的要求|达到要求了|能用了|能跑了|跑通了|测试通过|测试过了|测过了|看过了|看了|已确认|没什么问题|没啥问题|没啥要改的|没什么要改的|效果很好|效果不错|写得好|写得不错|写得很好|做得好|做得不错|做得很好|干得好|干得漂亮|漂亮|喜欢|我喜欢|很喜欢|同意|批准|认可|ok|nice|good|perfect|解决了|问题解决了|修好了|好用|很好用|妥了|妥|成|成了|齐活|到位|很到位|非常到位|就按这个来|按这个来|就按这个|定了|可以定稿|定稿|定稿了|没得挑|无可挑剔|挑不出毛病";

/// Says yes, no or leaves the choice: an answer where something was asked.
pub(super) static ANSWER: Whole = Whole(LazyLock::new(|| sorted(ANSWER_LIST)));
const ANSWER_LIST: &str = "no|nope|nah|not really|neither|none|none of them|both|either|either one|any|anything|you choose|you decide|you pick|up to you|your call|whatever|whatever you think|i dont care|dont care|doesnt matter|no preference|the first|the first one|the second|the second one|the latter|the former|the last one|all of them|all|option a|option b|option c|a|b|c|1|2|3|\
不|不是|不要|不用|不行|不可以|没有|都不|都不是|都不要|都行|都可以|随便|你定|你决定|你来定|你选|看你|听你的|无所谓|第一个|第二个|第三个|前者|后者|两个都要|都要|全部|全都要|选a|选b|a|b|c|不了|不需要";

/// Says nothing yet.
pub(super) static HESITATE: Whole = Whole(LazyLock::new(|| sorted(HESITATE_LIST)));
const HESITATE_LIST: &str = "hmm|hm|hmmm|hmmmm|mmm|um|umm|uh|uhh|er|erm|wait|wait a minute|wait a second|wait a sec|wait what|hold on|hold on a second|hang on|one sec|one second|one moment|a moment|just a moment|just a sec|sec|let me think|let me think about it|let me see|let me check|let me look|let me have a look|ill think about it|ill get back to you|ill check|i need to think|need to think about it|not sure|im not sure|i am not sure|not sure yet|im not sure yet|maybe|perhaps|i guess|possibly|idk|dunno|i dont know|i dont know yet|what|huh|why|how|who|when|where|really|seriously|is it|are you sure|what do you mean|what does that mean|i dont understand|i dont get it|dont understand|done|finished|ready|are you done|is it done|is that it|hello|hi|hey|you there|are you there|anyone there|anybody there|still there|interesting|i see|well|so|and|but|ok so|oh|ah|eh|meh|whatever|any news|any update|any updates|any progress|status|how is it going|hows it going|how far are you|whats the status|how long|how long will it take|test|testing|asdf|lol|haha|lmao|the other thing|that thing|the thing|about that|about earlier|it depends|depends|something|i was wondering|i was thinking|thinking|still thinking|brb|afk|back|im back|\
嗯|嗯…|呃|额|那个|等等|等一下|等下|等会|等会儿|稍等|稍等一下|等我一下|先等等|让我想想|我想想|我想一想|容我想想|我考虑一下|考虑一下|再想想|我再想想|我看看|我先看看|看看再说|再说吧|再说|回头再说|不确定|我不确定|不太确定|还不确定|不清楚|不知道|我不知道|也许|可能吧|可能|大概|或许|什么|啥|什么意思|啥意思|为什么|怎么了|怎么说|怎么|是吗|真的吗|真的|确定吗|你确定|你确定吗|然后呢|然后|所以呢|所以|完了吗|好了吗|好了没|完成了吗|做完了吗|搞定了吗|弄完了吗|进度|进度如何|进展如何|怎么样了|到哪了|多久|还要多久|还有多久|在吗|你在吗|在不在|喂|你好|哈喽|哦|噢|啊|唔|哈哈|呵呵|不好说|看情况|随缘|有点意思|这样啊|这样吗|是这样啊|我回来了|那件事|那个事|这个嘛|看不懂|没看懂|不懂|没懂|我没懂|嗯哼|测试|试试|话说|再看看|我晚点回复|晚点说|一会儿说|先这样|嗯我想想";

/// Begins something else, said so.
pub(super) static NEW_MARKS: Anywhere = Anywhere(LazyLock::new(|| spaced(NEW_MARKS_LIST)));
const NEW_MARKS_LIST: &str = "new task|next task|another task|different task|separate task|new request|separate request|separately|unrelated|on another note|on a different note|different topic|new topic|different question|another question|unrelated question|something else|something different|something completely different|switching to|switch to|change of plan|change of plans|change of subject|before that|next up|moving on|side note|different matter|another matter|new thing|another thing entirely|different project|other project|new project|forget that and|drop that and|drop this and|instead of this|instead of that task|put that on hold|put this on hold|park that|park this|leave that for now|leave this for now|first something else|for a different|for another|\
新任务|新的任务|另一个任务|另外一个任务|别的任务|下一个任务|换个任务|另一件事|另外一件事|别的事|另外的事|换个话题|换一个话题|无关的|不相关的|跟这个无关|和这个无关|跟这没关系|先放一放|先放下|放一边|先搁一边|先不管这个|新需求|新的需求|新项目|另一个项目|别的项目|换件事|换一件事|说点别的|题外话|做点别的|先帮我|另开一个";

/// Changes what there is, said so.
pub(super) static CHANGE_MARKS: Anywhere = Anywhere(LazyLock::new(|| spaced(CHANGE_MARKS_LIST)));
const CHANGE_MARKS_LIST: &str = "also|instead|actually|but|except|rather|make it|make them|make the|change|rename|replace|remove|delete|add|include|exclude|use|using|dont use|do not use|switch the|swap|move the|shorter|longer|bigger|smaller|larger|less|more|fewer|too|not quite|almost|wrong|incorrect|should be|shouldnt|should have|must|needs to|need to be|fix|update|adjust|tweak|increase|decrease|reduce|lower|raise|keep|without|with|only|skip the|one more thing|one thing|another thing|while youre at it|as well|plus|additionally|again|redo|rewrite|revise|rework|try|try again|doesnt work|does not work|not working|still|broken|fails|failing|missing|forgot|you forgot|typo|error|bug|not what i|i said|i meant|i asked|no not|not that|the wrong|limit|set the|put the|turn the|convert|translate|format|sort|split|merge the|simplify|shorten|extend|expand|what about|how about|can it|could it|can you make|could you make|and make|please make|stop using|stop adding|stop putting|dont add|dont touch|leave the|leave out|drop the|instead of|not the|rather than|undo|revert|roll back|go back to|start the|ignore the|exclude the|\
也|还要|还有|另外|再加|再|加上|加一|加个|增加|添加|改成|改为|改一下|改下|改|换成|换掉|替换|删掉|删除|去掉|去除|移除|不要用|别用|别加|不要加|用|改用|调整|修改|修正|更新|重写|重新|重做|缩短|短一点|短点|长一点|长点|大一点|小一点|多一点|少一点|再多|再少|更|太|不对|错了|错|有误|不是这个|不是这样|应该|应当|不应该|必须|需要|得|别忘了|忘了|漏了|少了|缺|没有包含|没写|不够|不太|还是|但|但是|不过|只要|只|保留|去掉|除了|顺便|同时|一起|最好|能不能改|可以改|补充|补上|补一|限制|设置成|设成|转成|转换|翻译成|格式|排序|拆分|合并|简化|精简|扩展|展开|详细|报错|失败|不行|不能用|没生效|停止使用|不要再|别再|撤回|回退|恢复|等一下把|先把|把";

/// Begins a request.
pub(super) static REQUEST: Anywhere = Anywhere(LazyLock::new(|| spaced(REQUEST_LIST)));
const REQUEST_LIST: &str = "please|can you|could you|would you|will you|i want|i need|id like|i would like|help me|let us|lets|write|create|make|build|draft|book|order|find|search|look up|look for|check|show|tell|give|send|translate|summarize|plan|schedule|set up|set|install|deploy|run|generate|design|calculate|compute|compare|explain|remind|call|email|buy|reserve|recommend|suggest|prepare|organize|research|analyze|review|convert|fix|debug|implement|add|update|refactor|migrate|rename|delete|remove|what is|whats|how do|how does|how much|how many|who is|where is|when is|why is|what are|is there|are there|do you know|what time|which|\
帮我|请|麻烦|给我|我想|我要|我需要|能不能|能否|可以帮|可不可以|写|做|建|创建|生成|查|查一下|查询|找|搜|搜索|订|预订|预定|买|推荐|计算|算一下|翻译|总结|安排|计划|规划|设计|画|部署|安装|运行|提醒|发|打开|整理|分析|对比|比较|解释|介绍|告诉|看看|看一下|什么是|怎么|如何|哪里|多少|有没有|来一|讲|列";

/// Changes the task even while a question is open: an answer rarely says these.
pub(super) static EXTENDS: Anywhere = Anywhere(LazyLock::new(|| spaced(EXTENDS_LIST)));
const EXTENDS_LIST: &str = "also|as well|too|additionally|in addition|one more thing|one more|another thing|by the way|while youre at it|actually|instead of|instead|rather than|should be|shouldnt|wrong|is missing|are missing|forgot|everywhere|not two|not three|\
顺便|另外|还要|还得|也要|也得|再支持|再加|加上|改成|换成|换到|改到|应该|应当|写错|错了|漏了|别忘|同时|统一|压到|不要再";
