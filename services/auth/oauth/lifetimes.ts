/** How long an access token lives, in seconds. */
export const ACCESS_TOKEN_S = 600;
const DAY_S = 86_400;
/** How long a connection lasts without being used, in seconds. */
export const IDLE_S = 30 * DAY_S;
/** How long a connection lasts at most, in seconds. */
export const GRANT_S = 90 * DAY_S;
