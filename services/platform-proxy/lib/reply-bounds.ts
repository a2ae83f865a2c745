/** The longest answer of a platform, in bytes. */
export const MAX_REPLY_BYTES = 8 << 20;
/** The most values in an answer: some 10 ms of parsing. */
export const MAX_REPLY_VALUES = 250_000;
/** The most names of members and short texts that differ: some 20 ms of parsing. Real lists have a few thousand. */
export const MAX_REPLY_WORDS = 40_000;
/** The name of the error that says which bound an answer passes. */
export const TOO_MUCH = "TooMuchError";
