// Keeps a copy of all animals that equals the store's, whatever happens meanwhile, until the signal is aborted.
import { type AdoptionStore, ApiError, type Pet } from '@adoption-store/client';

const types = ['pet.added', 'pet.changed', 'pet.removed'] as const;

export async function keepCopy(store: AdoptionStore, copy: Map<bigint, Pet>, signal: AbortSignal): Promise<void> {
  while (!signal.aborted)
    try {
      // Before the list, so that no change is missed. What happens during the list comes as an event too.
      const cursor = await store.events.now({ signal });
      const listed = new Map<bigint, Pet>();
      for await (const pet of store.pets.list({}, { signal })) listed.set(pet.id, pet);
      copy.clear();
      for (const [id, pet] of listed) copy.set(id, pet);
      for await (const { type, data } of store.events.follow({ types, cursor, signal }))
        if (type === 'pet.removed') copy.delete(data.id);
        else copy.set(data.id, data);
    } catch (error) {
      // Some events are no longer kept, or the store was restored from a backup: list again.
      if (!(error instanceof ApiError) || error.code !== 'cursor_expired') throw error;
    }
}
