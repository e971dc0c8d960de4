/** The reachable part of this process's heap. */

type Snapshot = { nodes: number[]; nodeClassNames: string[] }
/** Fields of a node: its id, its size, the index of its class, flags. */
const FIELDS = 4
const CLASS = 2

/** The number of objects of this class that are still referenced. */
export function countReachable({ name }: { name: string }): number {
  Bun.gc(true)
  const { nodes, nodeClassNames } = Bun.generateHeapSnapshot() as unknown as Snapshot
  const index = nodeClassNames.indexOf(name)
  return nodes.filter((field, at) => at % FIELDS === CLASS && field === index).length
}
