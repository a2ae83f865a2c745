import { jsonPage, type Route } from "../route.js";

/** What is told to a client that wants to sign in. */
export const NO_SIGN_IN =
  "This service does not register clients: send an API key as 'Authorization: Bearer <key>'. If the client sent a key, the service did not accept it: check the key, or create a new one.";

/** Where clients turn. */
export interface ClientRegistrationOptions {
  /** The path of the public base URL, without a trailing slash. */
  readonly base: string;
}

/**
 * POST /register: where clients turn whose key was refused, to sign in (OAuth
 * 2.0 Dynamic Client Registration, RFC 7591 section 3.2.2). Most show their user
 * what they are told here, and not what the refusal said.
 */
export function clientRegistrationRoutes({ base }: ClientRegistrationOptions): Route[] {
  const refused = jsonPage(400, { error: "invalid_client_metadata", error_description: NO_SIGN_IN });
  return [{ path: `${base}/register`, methods: ["POST"], handle: () => refused }];
}
