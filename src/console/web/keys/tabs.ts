/** Messages between the tabs of a browser: IDs and times, nothing secret. */
import type { LockedBy } from './reports.ts'

type TabEvent =
  /** This user signed in. */
  | { kind: 'in' }
  | { kind: 'out'; isEnded: boolean }
  | { kind: 'locked'; by: LockedBy }
  /** The user did something, so the idle timer restarts. */
  | { kind: 'active' }
  /** A new lock time. Null means the idle timer. */
  | { kind: 'until'; until: number | null }

export type TabMessage = TabEvent & { userId: string }

export function openTabs(receive: (message: TabMessage) => void): (message: TabMessage) => void {
  const channel = new BroadcastChannel('cloakroom account')
  channel.onmessage = ({ data }: MessageEvent<TabMessage>) => receive(data)
  return (message) => channel.postMessage(message)
}
