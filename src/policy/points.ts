/** A fact, the scope or a field, with its values. */
export interface Dimension {
  readonly name: string
  readonly values: readonly string[]
}

/** A value of each dimension. */
export type Point = Readonly<Record<string, string>>

/** Every combination of values: the first dimension changes fastest. */
export function* pointsOf(dimensions: readonly Dimension[]): Generator<Point> {
  const size = sizeOf(dimensions)
  for (let index = 0; index < size; index++) {
    let rest = index
    const point: Record<string, string> = {}
    for (const { name, values } of dimensions) {
      point[name] = values[rest % values.length]!
      rest = Math.floor(rest / values.length)
    }
    yield point
  }
}

/** The number of combinations. */
export function sizeOf(dimensions: readonly Dimension[]): number {
  return dimensions.reduce((product, { values }) => product * values.length, 1)
}

/** Whether a point has a value of each dimension. */
export function isKnown(dimensions: readonly Dimension[], point: Point): boolean {
  return dimensions.every(({ name, values }) => values.includes(point[name]!))
}
