/** The cookie of the library's own session, which lasts as long as an authorization. */
export const SESSION_COOKIE = "sallyport_oauth";
