/** A list of things that a change ends, in a dialog. */
type Props = { title: string; effects: readonly string[] }

export function Effects({ title, effects }: Props) {
  return (
    <div className="flex flex-col gap-1">
      <p className="font-medium">{title}</p>
      <ul className="list-disc pl-5 text-ink-2">
        {effects.map((effect) => (
          <li key={effect}>{effect}</li>
        ))}
      </ul>
    </div>
  )
}
