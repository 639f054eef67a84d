//! What is said in the benchmarks: one conversation about one thing.

pub const TALK: [(&str, &str); 4] = [
    (
        "how long should the sourdough bread rise before I bake it?",
        "Four to six hours at room temperature are enough.",
    ),
    (
        "and what temperature does the oven need for the loaf?",
        "Heat it to 230 degrees and bake in a closed pot.",
    ),
    (
        "does the dough need more flour if it sticks to the bowl?",
        "A little on the bowl; sticky sourdough is normal.",
    ),
    (
        "can I let the dough rise in the fridge over night?",
        "Yes, eight to twelve hours in the fridge work well.",
    ),
];
