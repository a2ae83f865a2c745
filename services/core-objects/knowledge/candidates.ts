/** Passages with the best matching words, and those of the nearest meaning, that take part in the ranking. */
export const CANDIDATES = 200;

/** Vectors that are each compared with a question; where it is about more, indexes find the nearest. */
export const COMPARED = 20_000;
