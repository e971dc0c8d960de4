/** Describes a waiting item with a title and short facts. */
import { texts } from '../../texts/index.ts'
import type { WaitingItem } from '../../waiting.ts'

const words = texts.waiting

export function describeItem(item: WaitingItem): { title: string; facts: string[] } {
  if (item.kind === 'host') {
    const { host, agent, calls, secrets } = item.refused
    return { title: host, facts: [agent, words.calls(calls), secrets.join(', ')] }
  }
  if (item.kind === 'proposal') {
    const { agent, hosts, secrets, reason } = item.proposal
    const names = [...hosts, ...secrets.map(({ key }) => key)]
    return { title: names.join(', '), facts: [words.proposedBy(agent), reason] }
  }
  const { method, origin, path, agent, secrets } = item.request
  const keys = secrets.map(({ key }) => key).join(', ')
  return { title: `${method} ${new URL(origin).host}${path}`, facts: [agent, keys] }
}
