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

/** The known parameters of the address. */
export function auditSearch(search: Record<string, unknown>): AuditFilters {
  const known = [...filterNames, ...others].flatMap((name) => {
    const value = search[name]
    // A number in an address is read as one.
    return typeof value === 'string' || typeof value === 'number'
      ? [[name, String(value)] as const]
      : []
  })
  return Object.fromEntries(known.filter(([, value]) => value !== ''))
}
