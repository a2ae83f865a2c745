/** A kind of cyber observable: its type, the argument that carries it, and the fields of that argument. */
export interface ObservableKind {
  readonly type: string;
  readonly graphql: string;
  readonly stix: string;
  readonly attributes: Readonly<Record<string, string>>;
  /** Which attributes give its value, first set one wins. */
  readonly main: readonly string[];
}

type Row = readonly [type: string, attributes: string, main?: string];

// Fields as the creation arguments name them.
const ROWS: readonly Row[] = [
  ["Autonomous-System", "number:Int!, name:String, rir:String", "name number"],
  ["Directory", "path:String!, path_enc:String", "path"],
  ["Domain-Name", "value:String!"],
  ["Email-Addr", "value:String, display_name:String"],
  [
    "Email-Message",
    "is_multipart:Boolean, attribute_date:DateTime, content_type:String, message_id:String, subject:String, body:String",
    "subject body",
  ],
  ["Email-Mime-Part-Type", "body:String, content_type:String, content_disposition:String", "body"],
  [
    "Artifact",
    "hashes:[HashInput], mime_type:String, payload_bin:String, url:String, x_opencti_additional_names:[String]",
    "hashes url payload_bin",
  ],
  [
    "StixFile",
    "hashes:[HashInput], size:Int, name:String, name_enc:String, magic_number_hex:String, mime_type:String, x_opencti_additional_names:[String]",
    "hashes name",
  ],
  [
    "X509-Certificate",
    "hashes:[HashInput], is_self_signed:Boolean, version:String, serial_number:String, issuer:String, subject:String",
    "subject serial_number hashes",
  ],
  ["IPv4-Addr", "value:String, belongsTo:[String], resolvesTo:[String]"],
  ["IPv6-Addr", "value:String"],
  ["Mac-Addr", "value:String"],
  ["Mutex", "name:String", "name"],
  [
    "Network-Traffic",
    "start:DateTime, end:DateTime, is_active:Boolean, networkSrc:String, networkDst:String, src_port:Int, dst_port:Int, protocols:[String]",
    "dst_port src_port",
  ],
  [
    "Process",
    "is_hidden:Boolean, pid:Int, cwd:String, x_opencti_description:String, command_line:String!",
    "command_line",
  ],
  [
    "Software",
    "name:String, cpe:String, swid:String, languages:[String], vendor:String, version:String, x_opencti_product:String",
    "name",
  ],
  ["Url", "value:String"],
  [
    "User-Account",
    "user_id:String, credential:String, account_login:String, account_type:String, display_name:String",
    "account_login user_id",
  ],
  ["Windows-Registry-Key", "attribute_key:String, modified_time:DateTime, number_of_subkeys:Int", "attribute_key"],
  ["Windows-Registry-Value-Type", "name:String, data:String, data_type:String", "name data"],
  ["Cryptographic-Key", "value:String"],
  ["Cryptocurrency-Wallet", "value:String"],
  ["Hostname", "value:String"],
  ["Text", "value:String"],
  ["User-Agent", "value:String"],
  ["Bank-Account", "iban:String, bic:String, account_number:String", "iban account_number"],
  ["Credential", "value:String"],
  ["Tracking-Number", "value:String"],
  ["Phone-Number", "value:String"],
  ["Payment-Card", "card_number:String!, expiration_date:DateTime, cvv:Int, holder_name:String", "card_number"],
  [
    "Media-Content",
    "title:String, content:String, media_category:String, url:String!, publication_date:DateTime",
    "title url",
  ],
  ["Persona", "persona_name:String!, persona_type:String!", "persona_name"],
  [
    "SSH-Key",
    "key_type:String, public_key:String, fingerprint_sha256:String!, fingerprint_md5:String, key_length:String, comment:String",
    "fingerprint_sha256",
  ],
  ["AI-Prompt", "value:String"],
  ["IMEI", "value:String"],
  ["ICCID", "value:String"],
  ["IMSI", "value:String"],
];

const STIX_TYPES: Readonly<Record<string, string>> = { StixFile: "file", "User-Agent": "user-agent" };

/** Every kind of observable, with its attributes and which of them name it. */
export const OBSERVABLE_KINDS: readonly ObservableKind[] = ROWS.map(([type, attributes, main = "value"]) => ({
  type,
  graphql: type.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase()),
  stix: STIX_TYPES[type] ?? type.toLowerCase(),
  attributes: Object.fromEntries(attributes.split(", ").map((pair) => pair.split(/:(.*)/).slice(0, 2))),
  main: main.split(" "),
}));

const byType = new Map(OBSERVABLE_KINDS.map((kind) => [kind.type, kind]));

/** The kind of a stored type, such as IPv4-Addr. */
export const observableKindOf = (type: string): ObservableKind | undefined => byType.get(type);

interface Hash {
  readonly algorithm: string;
  readonly hash: string;
}

const HASH_ORDER = ["SHA-256", "SHA-512", "SHA-1", "MD5"];

/** What the platform shows as the observable's value. */
export function observableValueOf(kind: ObservableKind, attributes: Readonly<Record<string, unknown>>): string {
  for (const name of kind.main) {
    const value = attributes[name];
    if (name === "hashes") {
      const hashes = (value ?? []) as Hash[];
      const best = HASH_ORDER.map((algorithm) => hashes.find((h) => h.algorithm.toUpperCase() === algorithm)).find(
        Boolean,
      );
      if (best !== undefined) return best.hash;
    } else if (value !== undefined && value !== null && value !== "") return String(value);
  }
  return "Unknown";
}

const IPV4 = /^(25[0-5]|2[0-4]\d|1?\d?\d)(\.(25[0-5]|2[0-4]\d|1?\d?\d)){3}(\/([12]?\d|3[0-2]))?$/;
const SYNTAX: Readonly<Record<string, RegExp>> = {
  "IPv4-Addr": IPV4,
  "IPv6-Addr": /^[0-9a-f:]+(\/\d{1,3})?$/i,
  "Domain-Name": /^\S+$/,
  Url: /^\S+$/,
  "Email-Addr": /^\S+@\S+$/,
  "Mac-Addr": /^[0-9a-f]{2}([:-][0-9a-f]{2}){5}$/i,
};
const HASH_LENGTHS: Readonly<Record<string, number>> = { MD5: 32, "SHA-1": 40, "SHA-256": 64, "SHA-512": 128 };

/** Whether the platform takes the values as well formed for their kind. */
export function isWellFormed(kind: ObservableKind, attributes: Readonly<Record<string, unknown>>): boolean {
  for (const { algorithm, hash } of (attributes.hashes ?? []) as Hash[]) {
    const length = HASH_LENGTHS[algorithm.toUpperCase()];
    if (length !== undefined && (hash.length !== length || !/^[0-9a-f]+$/i.test(hash))) return false;
  }
  return SYNTAX[kind.type]?.test(String(attributes.value ?? "")) ?? true;
}

const PATTERN_PATHS: Readonly<Record<string, string>> = {
  "Email-Message": "subject",
  Directory: "path",
  Mutex: "name",
  Process: "command_line",
  Software: "name",
  "Windows-Registry-Key": "key",
};

/** The STIX pattern that matches an observable. */
export function patternOf(kind: ObservableKind, attributes: Readonly<Record<string, unknown>>): string {
  const quoted = (text: string) => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
  const hashes = (attributes.hashes ?? []) as Hash[];
  if (hashes.length > 0) {
    const terms = hashes.map(
      ({ algorithm, hash }) => `${kind.stix}:hashes.'${algorithm.toUpperCase()}' = ${quoted(hash)}`,
    );
    return `[${terms.join(" AND ")}]`;
  }
  return `[${kind.stix}:${PATTERN_PATHS[kind.type] ?? kind.main[0]} = ${quoted(observableValueOf(kind, attributes))}]`;
}
