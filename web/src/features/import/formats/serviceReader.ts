/** Reads records of a service, also from columns that the service's own files do not have. */
import type { Found } from '../rows';
import { unreadNames } from './columns';
import { listOf, textOf, type Fields } from './fields';
import type { Service } from './services';

export type RecordReader = (field: Fields) => Found | null;

/**
 * Returns a function that reads a record. `names` are its normalized headers or keys. A title, tags
 * and dates that the service does not read are read by their names. What the service reads is known
 * from reading `sample`.
 */
export function serviceReader(
  service: Service,
  names: readonly string[],
  sample: readonly Fields[],
): RecordReader {
  const read = new Set<string>();
  for (const field of sample) {
    service.read((name) => {
      read.add(name);
      return field(name);
    });
  }
  const { title, tags, created_at, expires_at } = unreadNames(names, (name) => read.has(name));
  return (field) => {
    const found = service.read(field);
    if (!found) return null;
    return {
      ...found,
      ...(title !== undefined && { title: textOf(field(title)) }),
      ...(tags !== undefined && { tags: listOf(field(tags), /[,;|]/) }),
      ...(created_at !== undefined && { created: field(created_at) }),
      ...(expires_at !== undefined && { expires: field(expires_at) }),
    };
  };
}
