/** In place of a user's id in an event about what is reached: too many users to name. */
export const EVERYONE = "everyone";
