// A stranger's program on the domain, which is compiled both as an ES module and as CommonJS.
import { type Animal, type Application, createApplication, DomainError, type Ports } from '@adoption-store/domain';
import { inMemoryPorts, type TestFramework } from '@adoption-store/domain/testing';

declare const console: { log(text: string): void };

const ports: Ports = inMemoryPorts();
const application: Application = createApplication(ports);

export async function add(name: string): Promise<Animal | undefined> {
  try {
    return await application.addAnimal.execute({ name, categoryId: 9_223_372_036_854_775_807n });
  } catch (error) {
    if (error instanceof DomainError) return undefined;
    throw error;
  }
}

export type Framework = Pick<TestFramework, 'describe'>;

void add('Luna').then((animal) => {
  console.log(animal === undefined ? 'none' : `${animal.categoryId} ${animal.name}`);
});
