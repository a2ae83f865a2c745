import { resourceExhausted } from "../shared/rpc/errors.js";

/** How many calls may be under way at one platform. */
export interface PlaceLimits {
  readonly perPlatform: number;
  /** Of one key. */
  readonly perKey: number;
}

/** Calls under way, by platform: a platform that hangs keeps its own places and nobody else's. */
export interface Places {
  /**
   * Takes a place at a platform for a call of a key; returns what gives it back.
   *
   * @throws ConnectError resource_exhausted, where there is none.
   */
  take(server: string, key: string): () => void;
}

/** Counts places in a process. */
export function createPlaces({ perPlatform, perKey }: PlaceLimits): Places {
  const all = new Map<string, { taken: number; readonly ofKeys: Map<string, number> }>();
  return {
    take(server, key) {
      let platform = all.get(server);
      if (platform === undefined) {
        platform = { taken: 0, ofKeys: new Map() };
        all.set(server, platform);
      }
      const { ofKeys } = platform;
      const own = ofKeys.get(key) ?? 0;
      if (own >= perKey) {
        throw resourceExhausted(
          `${own} calls with this API key are running at the ${server} platform, which is the limit: call again when one has ended`,
        );
      }
      if (platform.taken >= perPlatform) {
        throw resourceExhausted(
          `${platform.taken} calls are running at the ${server} platform, which is the limit: call again in a few seconds`,
        );
      }
      platform.taken++;
      ofKeys.set(key, own + 1);
      const of = platform;
      return () => {
        of.taken--;
        const left = (ofKeys.get(key) as number) - 1;
        if (left === 0) ofKeys.delete(key);
        else ofKeys.set(key, left);
      };
    },
  };
}
