import { type Answering, type Asked, startAnswering } from "../../../../support/platforms/answering.js";
import { type Exchange, readNamed } from "../../../../support/platforms/recording.js";
import { INPUTS, SEARCHES } from "./upstream-fields.js";

/** What an OpenAEV answered to a route that the tools call, by the name of the exchange. */
export const recorded = readNamed("aev-answers");

/** An answer, recorded or made of recorded ones, and to what. */
export type Answer = Pick<Exchange, "method" | "path" | "status" | "answer">;

/** A request by its path without the tenant, and the tenant. */
export interface TenantAsked {
  readonly method: string;
  readonly path: string;
  readonly tenant: string | undefined;
  readonly body: unknown;
}

const WHO: Readonly<Record<string, readonly [string, string]>> = {
  "observer@sallyport.example": ["me", "tenants"],
  "planner@sallyport.example": ["meOfMember", "tenantsOfMember"],
  "admin@sallyport.example": ["meOfAdmin", "tenantsOfAdmin"],
};

/** A platform that gives recorded answers and nothing else. */
export interface AevAnswering extends Pick<Answering, "url" | "close"> {
  readonly asked: TenantAsked[];
  /** Gives these answers from now on, besides those on who is calling and on tags. */
  play(...given: readonly Answer[]): void;
}

/**
 * Starts one. A key to search, sort or write by that the platform does not take
 * is refused as it refuses one.
 */
export async function startAevAnswering(): Promise<AevAnswering> {
  let answers: readonly Answer[] = [];
  const asked: TenantAsked[] = [];
  const { url, close } = await startAnswering(({ method, path: whole, body, headers }) => {
    const [, tenant, rest] = /^\/api(?:\/tenants\/([0-9a-f-]{36}))?(\/.*)$/.exec(whole) ?? [];
    const path = `/api${rest}`;
    asked.push({ method, path, tenant, body });
    const [me = "", tenants = ""] = WHO[emailOf(headers)] ?? [];
    const standing = [recorded(me), recorded(tenants), recorded("tags")];
    const known = [...answers, ...standing].find((answer) => answer.method === method && answer.path === path);
    return isTaken(`${method} ${path.replace(/[0-9a-f-]{36}/, "{id}")}`, body) ? known : recorded("unknownKey");
  });
  return {
    url,
    close,
    asked,
    play(...given) {
      answers = given;
    },
  };
}

interface SearchBody {
  readonly filterGroup: { readonly filters: readonly { readonly key: string }[] };
  readonly sorts: readonly { readonly property: string }[];
}

function isTaken(route: string, body: unknown): boolean {
  const searchable = SEARCHES[route];
  if (searchable === undefined) return Object.keys(body ?? {}).every((field) => INPUTS[route]?.includes(field));
  const { filterGroup, sorts } = body as SearchBody;
  return (
    filterGroup.filters.every(({ key }) => searchable.filters.includes(key)) &&
    sorts.every(({ property }) => searchable.sorts.includes(property))
  );
}

/** The caller, who is named in the token. */
function emailOf({ authorization = "" }: Asked["headers"]): string {
  const claims = Buffer.from(authorization.split(".")[1] ?? "", "base64url").toString();
  return (JSON.parse(claims) as { email: string }).email;
}
