import { configureTextEncoding } from "@bufbuild/protobuf/wire";
import { replacedText, textOfUtf8 } from "./utf8.js";

// The library checks whether a text can be written as UTF-8 by escaping all of it
// as a URL, which takes tens of milliseconds for a message of 4 MB. It asks this
// instead, in every process that imports it.

const lenient = new TextDecoder("utf-8", { ignoreBOM: true });

configureTextEncoding({
  // Two to four times as fast as an encoder, for short texts and long ones.
  encodeUtf8: (text) => Buffer.from(text),
  decodeUtf8(bytes, strict) {
    const text = textOfUtf8(bytes);
    if (text === undefined && strict) throw new TypeError("the text is not UTF-8");
    return text ?? lenient.decode(bytes);
  },
  checkUtf8: (text) => text.isWellFormed(),
});

/**
 * Options with which Connect decodes the JSON of a message as fast: what parses it takes a decoder (JsonSerializationOptions),
 * though the options of a router do not name it.
 */
export const JSON_TEXT = { textDecoder: { decode: replacedText } };
