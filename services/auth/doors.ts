import type { ExternalCredentials } from "./external/credentials.js";
import type { AuthorizationServer } from "./oauth/authorization-server.js";
import type { OutsideSignIn } from "./oauth/outside-sign-in.js";
import type { ConsoleSignIn } from "./sign-in/at-console.js";

/** What answers people at browsers and clients of OAuth, and whose access tokens are taken. */
export interface Doors {
  readonly consoleSignIn: ConsoleSignIn;
  readonly outside: OutsideSignIn;
  readonly authorizationServer: AuthorizationServer;
  /** Undefined if the embedded authorization server issues them. */
  readonly external: ExternalCredentials | undefined;
}
