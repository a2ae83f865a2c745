import { OBSERVABLE_KINDS } from "../observables.js";
import type { Thing } from "../thing.js";
import { range, type Source } from "./source.js";

/** Fills in observables of every kind. */
export function seedObservables({ make, int, chance, pick, hex }: Source) {
  const scored = () => ({
    x_opencti_score: int(0, 100),
    ...(chance(30) && { x_opencti_description: "Seen in traffic." }),
  });
  const words = ["mail", "cdn", "update", "login", "static", "api", "files", "portal"];
  const addresses = range(360, (n) =>
    make("IPv4-Addr", { value: n < 250 ? `198.51.100.${n + 1}` : `203.0.113.${n - 249}`, ...scored() }),
  );
  range(40, (n) => make("IPv6-Addr", { value: `2001:db8::${(n + 1).toString(16)}`, ...scored() }));
  const domains = range(380, (n) =>
    make("Domain-Name", { value: `${words[n % words.length]}-${n}.c2.example`, ...scored() }),
  );
  const urls = range(240, (n) =>
    make("Url", { value: `https://${words[n % words.length]}-${n}.c2.example/p/${n}`, ...scored() }),
  );
  const files = range(240, (n) =>
    make("StixFile", {
      name: `sample-${n}.bin`,
      size: int(1_000, 900_000),
      hashes: [
        { algorithm: "MD5", hash: hex(32) },
        { algorithm: "SHA-1", hash: hex(40) },
        { algorithm: "SHA-256", hash: hex(64) },
      ],
      ...scored(),
    }),
  );
  range(60, (n) => make("Email-Addr", { value: `sender${n}@mail-${n % 8}.example`, ...scored() }));
  const done = ["IPv4-Addr", "IPv6-Addr", "Domain-Name", "Url", "StixFile", "Email-Addr"];
  for (const kind of OBSERVABLE_KINDS.filter(({ type }) => !done.includes(type))) {
    const [main = "value"] = kind.main;
    const value = kind.attributes[main]?.startsWith("Int")
      ? 443
      : main === "hashes"
        ? [{ algorithm: "SHA-256", hash: hex(64) }]
        : `${kind.stix}-${pick(words)}`;
    make(
      kind.type,
      { [main]: value, ...(kind.type === "Mac-Addr" && { value: "02:00:5e:00:53:01" }), ...scored() },
      { open: true },
    );
  }
  return { addresses, domains, files, network: [...addresses, ...domains, ...urls] as Thing[] };
}
