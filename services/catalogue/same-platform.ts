import { spellingOf } from "../shared/outgoing/named-url.js";

/** A platform as it says of itself. */
export interface Registrant {
  readonly server: string;
  /** "" if it says none. */
  readonly platformId: string;
  readonly url: string;
}

/** What is held of a platform that registered. */
export interface Held {
  readonly platform_id: string;
  readonly url: string;
}

/** Whether a platform is the one that is held: by their ids, or by their addresses if one of them has none. */
export function isSamePlatform(held: Held, { platformId, url }: Registrant): boolean {
  const ids = [idOf(held.platform_id), idOf(platformId)];
  return ids.includes("") ? isSameAddress(held.url, url) : ids[0] === ids[1];
}

/** Whether a platform says the id, or the address, of the one that is held. */
export function isClaimed(held: Held, { platformId, url }: Registrant): boolean {
  const id = idOf(platformId);
  return (id !== "" && id === idOf(held.platform_id)) || isSameAddress(held.url, url);
}

/** Whether two URLs are one address, however they are written. */
export function isSameAddress(one: string, other: string): boolean {
  return spellingOf(one) === spellingOf(other);
}

/** A platform's id as it is compared: letter case, white space and characters that nobody sees make no other platform. */
export function idOf(platformId: string): string {
  return platformId
    .normalize("NFKC")
    .replace(/[\s\p{C}]/gu, "")
    .toLowerCase();
}
