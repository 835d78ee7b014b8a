import type { Behaviour } from '../behaviour.ts';

/** What a client gets for a task: its id, or what this server returns instead. */
export function renamedTask(
  form: Behaviour['taskIds'],
  { entityType, aspect }: { entityType: string; aspect: string },
  id: string,
  uuid: () => string,
): string {
  switch (form) {
    case 'node:number':
      return id;
    case 'uuid':
      return uuid();
    case 'empty':
      return '';
    case 'sentence':
      return `Reindex ${entityType} ${aspect} index`;
  }
}
