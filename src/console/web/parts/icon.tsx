/** An icon beside a text with the same meaning. */
import type { LucideIcon } from 'lucide-react'

export function Icon({ of: Shape, size = 15 }: { of: LucideIcon; size?: 12 | 13 | 15 | 16 | 20 }) {
  return <Shape size={size} strokeWidth={1.6} aria-hidden="true" className="shrink-0" />
}
