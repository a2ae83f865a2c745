/** How a run is worked at. */
export interface Working {
  readonly signal: AbortSignal;
  /** How long workers were at it, in milliseconds. */
  worked(): number;
}
