/** An environment by its color and its name, the same on every screen. */
const COLORS: Record<string, 'env-2' | 'env-3'> = {
  staging: 'env-2',
  stage: 'env-2',
  preview: 'env-2',
  production: 'env-3',
  prod: 'env-3',
  live: 'env-3',
}
const SQUARES = { 'env-1': 'bg-env-1', 'env-2': 'bg-env-2', 'env-3': 'bg-env-3' }

export function environmentColor(name: string): keyof typeof SQUARES {
  return COLORS[name.toLowerCase()] ?? 'env-1'
}

export function EnvironmentSquare({ name }: { name: string }) {
  const color = SQUARES[environmentColor(name)]
  return (
    <i
      aria-hidden="true"
      className={`size-2 shrink-0 rounded-[2px] forced-color-adjust-none ${color}`}
    />
  )
}

export function EnvironmentLabel({ name }: { name: string }) {
  return (
    <span className="inline-flex min-w-0 items-center gap-1.5 text-small font-medium text-ink-2">
      <EnvironmentSquare name={name} />
      <span className="truncate">{name}</span>
    </span>
  )
}
