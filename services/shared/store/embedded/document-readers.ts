import { DocumentReader } from "./document-reader.js";
import { EVERY_FIELD, type Fields } from "./fields.js";

/** Readers that are kept: there are about as many as there are queries in the program. */
const MOST = 100;

/** Readers of the documents of a collection, one for each choice of fields, because each remembers what its documents look like. */
export class DocumentReaders {
  readonly #whole: DocumentReader;
  readonly #some = new Map<string, DocumentReader>();

  /** @param library the library's decoder. */
  constructor(private readonly library: { decode(bytes: Buffer, end?: number): unknown }) {
    this.#whole = this.#readerOf(EVERY_FIELD);
  }

  /** Reads a document whole, as lmdb asks for it. */
  decode(bytes: Buffer, end?: number): unknown {
    return this.#whole.read(bytes, end);
  }

  /** The reader of some fields of documents. */
  of(fields: Fields): DocumentReader {
    if (fields === EVERY_FIELD) return this.#whole;
    const name = JSON.stringify([fields.areLeftOut, fields.names]);
    let reader = this.#some.get(name);
    if (reader === undefined) {
      if (this.#some.size >= MOST) this.#some.clear();
      reader = this.#readerOf(fields);
      this.#some.set(name, reader);
    }
    return reader;
  }

  #readerOf(fields: Fields): DocumentReader {
    return new DocumentReader((bytes, end) => this.library.decode(bytes, end), fields);
  }
}
