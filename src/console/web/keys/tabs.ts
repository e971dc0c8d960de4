/** What the tabs of a browser say to each other of who works there: ids and times, nothing secret. */
import type { LockedBy } from './reports.ts'

type Said =
  /** Their session is the browser's now. */
  | { kind: 'in' }
  | { kind: 'out'; isEnded: boolean }
  | { kind: 'locked'; by: LockedBy }
  | { kind: 'stirred' }
  /** Another end of the time for which keys stay open; null for when nobody works. */
  | { kind: 'stays'; until: number | null }

export type Word = Said & { userId: string }

export function openTabs(hear: (word: Word) => void): (word: Word) => void {
  const channel = new BroadcastChannel('cloakroom account')
  channel.onmessage = ({ data }: MessageEvent<Word>) => hear(data)
  return (word) => channel.postMessage(word)
}
