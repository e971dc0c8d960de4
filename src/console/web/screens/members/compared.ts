/**
 * Fingerprints that this person compared in this browser. It is a note to themselves: invitations are signed for keys,
 * so nothing depends on it.
 */
import { createShared } from '../../shared.ts'

const KEY = 'compared'
/** More than the members of several workspaces; the oldest notes go first. */
const MOST = 500

const notes = createShared<readonly string[]>(readNotes())

function readNotes(): readonly string[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(KEY) ?? '[]')
    return Array.isArray(stored) ? stored.filter((each) => typeof each === 'string') : []
  } catch {
    return []
  }
}

const noteOf = (own: string, fingerprint: string) => `${own} ${fingerprint}`

/** Whether the account with the email `own` compared a fingerprint. */
export function useCompared(own: string): (fingerprint: string) => boolean {
  const all = notes.useValue()
  return (fingerprint) => all.includes(noteOf(own, fingerprint))
}

export function markCompared(own: string, fingerprint: string): void {
  const note = noteOf(own, fingerprint)
  const next = [...notes.get().filter((each) => each !== note), note].slice(-MOST)
  localStorage.setItem(KEY, JSON.stringify(next))
  notes.set(next)
}
