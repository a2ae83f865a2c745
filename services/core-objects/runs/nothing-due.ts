import type { Base, DocCollection, Filter } from "../../shared/store/store.js";

/**
 * Says until when nothing of a collection is due, so that who looks for it every second asks the store only if the
 * collection has changed or a time has come. Where other processes may write too, it says nothing.
 *
 * The field has when a document is due; null for never.
 */
export class NothingDue<F extends string, T extends Base & Readonly<Record<F, Date | null>>> {
  #version: number | undefined;
  #until = 0;

  constructor(
    private readonly collection: DocCollection<T>,
    private readonly field: F,
  ) {}

  get isSo(): boolean {
    const { version } = this.collection;
    return version !== undefined && version === this.#version && Date.now() < this.#until;
  }

  /** Finds out, after a look that found nothing. */
  async settle(): Promise<void> {
    const { collection, field } = this;
    const { version } = collection;
    if (version === undefined) return;
    const [first] = await collection
      .find({ [field]: { $gt: new Date(0) } } as Filter<T>, { sort: { [field]: 1 }, limit: 1 })
      .toArray();
    if (collection.version !== version) return;
    this.#version = version;
    this.#until = first?.[field]?.getTime() ?? Number.POSITIVE_INFINITY;
  }
}
