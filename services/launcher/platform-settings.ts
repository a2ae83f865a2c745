import { createGuard } from "../shared/outgoing/guard.js";
import { platformUrlProblem, refusalOf } from "../shared/outgoing/named-url.js";
import { PUBLIC_ONLY, withAllowed } from "../shared/outgoing/policy.js";
import {
  CHOOSING_SERVERS,
  type ChoosingServer,
  PLATFORM_SERVERS,
  type PlatformAuth,
  type PlatformServer,
  platformOf,
} from "../shared/platforms.js";
import { type Option, oneOf, optional, text, url } from "../shared/process/config.js";

type PlatformOptions = {
  readonly [setting in `${PlatformServer}Url` | `${PlatformServer}PublicUrl` | `${ChoosingServer}ClientId`]: Option<
    string | undefined
  >;
} & { readonly [setting in `${ChoosingServer}Auth`]: Option<PlatformAuth> };

/** The settings of the platforms: NAME_URL and NAME_PUBLIC_URL each; NAME_AUTH and NAME_CLIENT_ID where there is a choice. */
export const platformOptions = Object.assign({}, ...PLATFORM_SERVERS.map(optionsOf)) as PlatformOptions;

function optionsOf(server: PlatformServer): Record<string, Option<unknown>> {
  const { auth } = platformOf(server);
  const isChoosing = CHOOSING_SERVERS.some((name) => name === server);
  return {
    [`${server}Url`]: optional({
      doc: `The URL of the platform behind ${server}; the built-in platform if omitted.`,
      parse: platformUrl,
    }),
    [`${server}PublicUrl`]: optional({
      doc: `The public URL of the ${server} platform, which is the audience of its tokens; ${server.toUpperCase()}_URL if omitted.`,
      parse: url,
    }),
    ...(isChoosing && {
      [`${server}Auth`]: {
        doc: `How the ${server} platform takes the service's token: ${auth.join(" or ")}.`,
        parse: oneOf(...auth),
        fallback: auth[0],
      },
      [`${server}ClientId`]: optional({
        doc: "The client id of the token exchange; the platform's public URL if omitted.",
        parse: text,
      }),
    }),
  };
}

function platformUrl(value: string): string {
  const problem = platformUrlProblem(value);
  if (problem !== undefined) throw new Error(problem);
  const refusal = refusalOf(NEVER_A_PLATFORM, value);
  if (refusal !== undefined) throw new Error(`must be an address that a platform can have: ${refusal.detail}`);
  return url(value);
}

/** Opens all that a range can open: what is refused then is metadata, link-local, multicast and the like. */
const NEVER_A_PLATFORM = createGuard(withAllowed(PUBLIC_ONLY, ["0.0.0.0/0", "::/0"]));
