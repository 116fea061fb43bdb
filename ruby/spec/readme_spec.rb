# frozen_string_literal: true

# What the README shows first is what happens.
RSpec.describe "README.md" do
  let(:example) { File.read(File.expand_path("../README.md", __dir__))[/^```ruby\n(.*?)^```/m, 1] }

  it "begins with a request that is refused, within ten lines" do
    expect(example.lines.size).to be <= 10
    output = IO.popen([RbConfig.ruby, "-W0", "-I", File.expand_path("../lib", __dir__), "-e", example], &:read)
    expect(output.lines.last(3).map(&:chomp)).to eq(example[/# (.*)$/, 1].split(", "))
  end
end
