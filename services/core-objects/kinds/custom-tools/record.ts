import type { Connecting } from "../../objects/connection.js";

/** A custom tool as it is stored: an HTTP request with arguments. Its connection is kept where it misbehaved. */
export interface CustomToolRecord extends Connecting {
  /** In small letters. */
  readonly method: string;
  /** Has {name} where an argument is written in. */
  readonly url: string;
  /** JSON Schema as JSON text: names of members begin with $ at times, which a document's cannot. */
  readonly input_schema: string;
  readonly headers: readonly HeaderRecord[];
  readonly timeout_seconds: number;
}

/** A header of its request. */
export interface HeaderRecord {
  readonly name: string;
  /** Before the variable's value, where there is one. */
  readonly value: string;
  /** A variable's id; "" for none. */
  readonly variable: string;
}
