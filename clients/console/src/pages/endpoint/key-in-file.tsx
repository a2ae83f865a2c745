import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { Link } from "@tanstack/react-router";
import { onDay } from "../../format";
import { Choice } from "../../ui/choice";
import { FORMATS, type Format } from "./formats";

const DAY_MS = 86_400_000;
const EXPIRY = [
  { id: "30", name: "In 30 days" },
  { id: "90", name: "In 90 days" },
  { id: "365", name: "In a year" },
];

/** What decides which key is in a file. */
export interface InFile {
  readonly isOneClick: boolean;
  /** The person has no API key. */
  readonly isKeyless: boolean;
  /** Until the new key expires. */
  readonly days: string;
  readonly onDays: (days: string) => void;
}

/** Says which key a package gets, and when it expires, before it is made; or that there is no key in it. */
export function KeyInFile({
  isOneClick,
  isKeyless,
  days,
  onDays,
  server,
  format,
}: InFile & {
  server: string;
  /** Undefined before one was chosen. */
  format?: Format;
}) {
  if (format !== undefined && format.client === undefined)
    return <p>This format never carries a key. {withoutKey(isKeyless)}</p>;
  if (!isOneClick) return <p>No key is in the file. {withoutKey(isKeyless)}</p>;
  const clients = format === undefined ? FORMATS.flatMap(({ client }) => client ?? []) : [format.client];
  const names = clients.map((client) => `“${client} (${server})”`).join(" or ");
  const end = onDay(timestampFromDate(new Date(Date.now() + Number(days) * DAY_MS)));
  return (
    <>
      <p>
        A new key named {names}, for {server} alone, is written into the file. It expires on {end}. Treat the file like
        a password. {format === undefined && "An agent plugin never carries a key."}
      </p>
      <Choice label="The key expires" value={days} items={EXPIRY} onChange={onDays} />
    </>
  );
}

function withoutKey(isKeyless: boolean) {
  if (!isKeyless) return "Your client asks for one of your keys when you install it, or signs you in.";
  return (
    <>
      Your client asks for one, and you have none: create it at <Link to={"/profile/keys" as never}>API Keys</Link>{" "}
      first, unless the client signs you in.
    </>
  );
}
