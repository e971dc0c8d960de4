/** The initials of a person (round) or a workspace (square), beside the whole name. */
type Props = { name: string; shape?: 'round' | 'square'; size?: 22 | 24 | 32 }

const SIZES = { 22: 'size-5.5', 24: 'size-6', 32: 'size-8' }
const SHAPES = {
  round: 'rounded-full bg-surface-2 text-ink-2',
  square: 'rounded-[6px] bg-accent text-on-accent',
}

export function Avatar({ name, shape = 'round', size = 24 }: Props) {
  return (
    <span
      aria-hidden="true"
      // Drawn by the style, so that the initials are no part of a button's name.
      data-initials={initialsOf(name, shape === 'square' ? 1 : 2)}
      className={`inline-grid before:content-[attr(data-initials)] shrink-0 place-items-center text-caption font-semibold select-none ${SIZES[size]} ${SHAPES[shape]}`}
    />
  )
}

function initialsOf(name: string, count: number): string {
  const words = name.split(/[^\p{Letter}\p{Number}]+/u).filter(Boolean)
  return words
    .slice(0, count)
    .map((word) => word.slice(0, 1).toUpperCase())
    .join('')
}
