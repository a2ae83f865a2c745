/** The path of the authorization server below the base URL. */
export const OAUTH = "/oauth";
