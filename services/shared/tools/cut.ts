import type { DescField, DescMessage, Message } from "@bufbuild/protobuf";
import { FeatureSet_FieldPresence } from "@bufbuild/protobuf/wkt";
import type { Encode } from "./codec/encode.js";

/** A result's JSON text, whole or cut. */
export type Cut = (message: Message, text: string) => string;

type Fields = Record<string, unknown>;

/**
 * Compiles how a result whose JSON is above `limit` characters is cut: the
 * list that takes most of it loses items from its end until the rest fits, and
 * `truncated` and `truncated_hint` say so. The next page's token goes too, since
 * it would go on behind the items that were cut. A result without a list stays
 * whole.
 */
export function compileCut(desc: DescMessage, encode: Encode, limit: number, takesPageSize: boolean): Cut {
  const lists = desc.fields.filter((field) => field.fieldKind === "list");
  return (message, text) => {
    const longest = longestOf(message, text.length, lists, encode);
    if (longest === undefined) return text;
    const { field, without } = longest;
    const items = (message as unknown as Fields)[field.localName] as readonly unknown[];
    const room = limit - without - HINT_ROOM;

    let least = 0;
    let most = items.length - 1;
    while (least < most) {
      const middle = Math.ceil((least + most) / 2);
      if (encode(withItems(message, field, items.slice(0, middle))).length - without <= room) least = middle;
      else most = middle - 1;
    }
    const cut = withoutNext(desc, withItems(message, field, items.slice(0, least)));
    const hint = hintOf(field.name, least, items.length, takesPageSize);
    return marked(desc, cut, encode, hint);
  };
}

/** Characters kept free for the two members that say what was cut. */
const HINT_ROOM = 400;

function longestOf(
  message: Message,
  whole: number,
  lists: readonly DescField[],
  encode: Encode,
): { readonly field: DescField; readonly without: number } | undefined {
  let longest: { readonly field: DescField; readonly without: number } | undefined;
  for (const field of lists) {
    const without = encode(withItems(message, field, [])).length;
    if (without < whole && (longest === undefined || without < longest.without)) longest = { field, without };
  }
  return longest;
}

/** A shallow copy with another list: the message is the service's and stays as it is. */
function withItems(message: Message, field: DescField, items: readonly unknown[]): Message {
  return { ...message, [field.localName]: items };
}

function withoutNext(desc: DescMessage, message: Message): Message {
  const token = desc.field.nextPageToken;
  if (token === undefined) return message;
  return { ...message, [token.localName]: token.presence === FeatureSet_FieldPresence.IMPLICIT ? "" : undefined };
}

function hintOf(list: string, kept: number, of: number, takesPageSize: boolean): string {
  const said = `${list} holds the first ${kept} of ${of} items, because the whole result is too large.`;
  if (kept === 0) return `${said} Ask for single objects, or for fewer fields.`;
  return takesPageSize
    ? `${said} Call again with the same page_token and page_size ${kept} or less, then continue from its next_page_token.`
    : `${said} Narrow the request to get the rest.`;
}

function marked(desc: DescMessage, message: Message, encode: Encode, hint: string): string {
  const own = desc.field.truncated;
  const cut = own === undefined ? message : ({ ...message, [own.localName]: true } as Message);
  const text = encode(cut).slice(0, -1);
  const members = [
    ...(own === undefined ? ['"truncated":true'] : []),
    ...(desc.field.truncatedHint === undefined ? [`"truncated_hint":${JSON.stringify(hint)}`] : []),
  ];
  return `${[text, ...members].join(text === "{" ? "" : ",")}}`;
}
