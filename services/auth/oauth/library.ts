import type { Provider as ProviderType } from "oidc-provider";

// oidc-provider says at each start that it does not support Node 20, on which
// its parts that are used here are tested (test/services/auth/oauth). Whoever
// runs the service can do nothing with that line, so it is not printed.
const { warn } = console;
console.warn = () => undefined;
const library = await import("oidc-provider").finally(() => {
  console.warn = warn;
});

/** The authorization server of the library. */
export const Provider: typeof ProviderType = library.Provider;
/** What it refuses requests with. */
export const errors: typeof import("oidc-provider").errors = library.errors;
