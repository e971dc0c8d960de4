/** The audit log's address: the filters, the order, and the open event. */

/** These take several names with commas between them. */
export const manyNames = ['actor', 'domain', 'credential', 'action'] as const
/** Each is a chip. */
export const filterNames = [
  ...manyNames,
  ...(['decision', 'method', 'project', 'environment'] as const),
] as const
const others = ['period', 'since', 'until', 'order', 'open'] as const

export type FilterName = (typeof filterNames)[number]
export type AuditFilters = { [name in FilterName | (typeof others)[number]]?: string }

/** A day, or a moment, in a form that the server knows. */
function isTime(value: string): boolean {
  return /^\d{4}-\d\d-\d\d(T|$)/.test(value) && !Number.isNaN(Date.parse(value))
}

/** The known parameters of the address. An invalid time counts as absent. */
export function auditSearch(search: Record<string, unknown>): AuditFilters {
  const known = [...filterNames, ...others].flatMap((name) => {
    const value = search[name]
    // A number in an address is read as one.
    return typeof value === 'string' || typeof value === 'number'
      ? [[name, String(value)] as const]
      : []
  })
  const isKept = (name: string, value: string) =>
    value !== '' && ((name !== 'since' && name !== 'until') || isTime(value))
  return Object.fromEntries(known.filter(([name, value]) => isKept(name, value)))
}
