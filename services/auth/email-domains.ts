import { invalidArgument, permissionDenied } from "../shared/rpc/errors.js";

/**
 * Of which domains people may be. Whoever makes a user acts on every platform as
 * whom that platform knows by the address: this bounds whom that can be.
 */
export interface EmailDomains {
  /** @throws ConnectError invalid_argument for the address of a new user. */
  checkNew(email: string): void;
  /** @throws ConnectError permission_denied for somebody who was a user before the domains were set. */
  checkPlatformUser(email: string): void;
}

/** @param domains in lower case and ASCII, each for itself without what is below it; undefined for any. */
export function createEmailDomains(domains: readonly string[] | undefined): EmailDomains {
  const allows = (email: string): boolean =>
    domains === undefined || domains.includes(email.slice(email.lastIndexOf("@") + 1));
  return {
    checkNew(email) {
      if (allows(email)) return;
      throw invalidArgument(`email: the domain must be one of EMAIL_DOMAINS: ${domains?.join(", ")}`);
    },
    checkPlatformUser(email) {
      if (allows(email)) return;
      throw permissionDenied(
        "users of your e-mail domain may not act on platforms: ask an administrator to add the domain to EMAIL_DOMAINS",
      );
    },
  };
}
